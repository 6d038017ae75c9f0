/** A queue for tests: it takes commands, returns event names, and its time is set by the test. */
import {
  type Command,
  type CommandOf,
  type CommandType,
  decide,
  evolve,
  initial,
  poisonConsumedStates,
  type PreparedTask,
  type QueueEvent,
  type QueueState,
  type Rejection,
  type Replies,
  replyTo,
  type RowStore,
  type TaskView,
  taskOf,
} from '@daybook/core'

poisonConsumedStates(true)

export const start = Date.UTC(2026, 0, 5, 9)
export const task = (id: string, more: Partial<PreparedTask> = {}): PreparedTask => ({
  id,
  type: 'work',
  idempotencyKey: `key of ${id}`,
  content: '{"payload":1}',
  ...more,
})

export class Queue {
  state: QueueState
  at = start
  readonly log: Array<QueueEvent> = []

  constructor(store?: RowStore) {
    this.state = initial('q', 0, store)
  }

  /** The events of an accepted command. */
  do(command: Command, random = 0): ReadonlyArray<QueueEvent> {
    const decision = decide(command, { at: this.at, random })(this.state)
    if (decision._tag === 'Left') throw new Error(`${command.type} refused: ${decision.left.code}: ${decision.left.detail}`)
    for (const event of decision.right) this.fold(event)
    return decision.right
  }

  fold(event: QueueEvent): void {
    this.log.push(event)
    this.state = evolve(this.state, event)
  }

  /** The reply to an accepted command. */
  ask<T extends CommandType>(command: CommandOf<T> & { readonly type: T }): Replies[T] {
    return replyTo(command, this.do(command as unknown as Command), this.state, this.at)
  }

  accepts(command: Command): boolean {
    return decide(command, { at: this.at, random: 0 })(this.state)._tag === 'Right'
  }

  refuse(command: Command): Rejection {
    const decision = decide(command, { at: this.at, random: 0 })(this.state)
    if (decision._tag === 'Right') throw new Error(`${command.type} accepted: ${decision.right.map(({ type }) => type).join()}`)
    return decision.left
  }

  /** Advances the time and issues a tick. */
  wait(seconds: number): ReadonlyArray<string> {
    this.at += seconds * 1_000
    return names(this.do({ type: 'Tick' }))
  }

  enqueue(...tasks: ReadonlyArray<PreparedTask>): this {
    this.do({ type: 'Enqueue', tasks })
    return this
  }

  configure(patch: CommandOf<'Configure'>['patch']): this {
    this.do({ type: 'Configure', patch })
    return this
  }

  /** Claims tasks. Returns their ids in order and the newest token. */
  claim(agent = 'ann', more: Partial<CommandOf<'Claim'>> = {}): { readonly ids: ReadonlyArray<string>; readonly token: number } {
    const claimed = this.ask({ type: 'Claim', agent, max: 1, ...more })
    return { ids: claimed.map((each) => each.task), token: claimed[claimed.length - 1]?.token ?? 0 }
  }

  /** The ids of the tasks that a claim would get now. */
  look(agent = 'ann', more: Partial<CommandOf<'Claim'>> = {}): ReadonlyArray<string> {
    const decision = decide({ type: 'Claim', agent, max: 1, ...more }, { at: this.at, random: 0 })(this.state)
    return decision._tag === 'Left' ? [] : decision.right.map((event) => (event.type === 'Claimed' ? event.data.task : event.type))
  }

  complete(id: string, token: number, hasReport = true, agent = 'ann'): ReadonlyArray<string> {
    return names(this.do({ type: 'Complete', task: id, agent, token, content: '{}', hasReport }))
  }

  fail(id: string, token: number, retryable = true, agent = 'ann', message = 'boom'): ReadonlyArray<string> {
    return names(this.do({ type: 'Fail', task: id, agent, token, error: { message }, retryable }))
  }

  giveBack(id: string, token: number, agent = 'ann'): ReadonlyArray<string> {
    return names(this.do({ type: 'Release', task: id, agent, token, reason: 'not mine' }))
  }

  /** Makes the task a dead letter: claims it and fails it as not retryable. */
  kill(id: string, type = 'work'): ReadonlyArray<string> {
    const { ids, token } = this.claim('ann', { types: [type] })
    if (ids[0] !== id) throw new Error(`claimed ${ids[0]} instead of ${id}`)
    return this.fail(id, token, false)
  }

  task(id: string): TaskView {
    const found = taskOf(this.state, id)
    if (found === undefined) throw new Error(`no task ${id}`)
    return found
  }

  status(id: string): string | undefined {
    return taskOf(this.state, id)?.status
  }
}

export const names = (events: ReadonlyArray<QueueEvent>): ReadonlyArray<string> => events.map(({ type }) => type)
