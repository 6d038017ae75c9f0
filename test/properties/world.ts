/**
 * Runs a scenario against a system (the real one, or one with a defect) together with its {@link Shadow}. Checkers
 * see every command, every event and every state on the way.
 */
import {
  type Command,
  type CommandOf,
  decide,
  type Decision,
  type Envelope,
  evolve,
  forget,
  fork,
  initial,
  listTasks,
  mark,
  type Mark,
  nextAlertDue,
  nextDue,
  nextForgotten,
  type QueueEvent,
  type QueueState,
  release,
  rollback,
  type TaskView,
} from '@daybook/core'
import { areSame, type Contents, contentsOf, differenceOf, Shadow, type ShadowTask, textOf, textOfContents } from '../support/states/index.js'
import { commandOf } from './commands.js'
import { at, type Scenario, type Step } from './steps.js'

/** The functions in which defects are planted. */
export interface System {
  readonly decide: (command: Command, envelope: Envelope) => (state: QueueState) => Decision
  readonly evolve: (state: QueueState, event: QueueEvent) => QueueState
  readonly rollback: (state: QueueState, point: Mark) => QueueState
  readonly fork: (state: QueueState) => QueueState
}
export const daybook: System = { decide, evolve, rollback, fork }

/** Watches a run, and throws if its invariant is broken. */
export interface Checker {
  /** A command was decided; none of its events is folded yet. */
  readonly command?: (world: World, command: Command, decision: Decision, envelope: Envelope) => void
  /** An event is about to be folded; `world.shadow` does not know it yet. */
  readonly event?: (world: World, event: QueueEvent, decided: ReadonlyArray<QueueEvent>, index: number) => void
  readonly note?: (event: QueueEvent) => void
  /** The state has changed, by a command and all its events or by another step. Also called at the end. */
  readonly step?: (world: World, command: Command | undefined, decided: ReadonlyArray<QueueEvent>) => void
}

export const holds = (condition: boolean, what: string | (() => string)): void => {
  if (!condition) throw new Error(typeof what === 'string' ? what : what())
}

/** The steps before a violation; formatted only if there is one. */
type TraceEntry = { readonly at: number; readonly command: Command } | { readonly event: QueueEvent } | { readonly note: string }
const traceText = (entry: TraceEntry): string =>
  'command' in entry ? `${entry.at} ${JSON.stringify(entry.command)}` : 'event' in entry ? `  ${entry.event.type} ${JSON.stringify(entry.event.data)}` : `  ${entry.note}`

interface Point {
  readonly mark: Mark
  readonly events: number
  readonly contents: Contents
}

export class World {
  state: QueueState = initial('q')
  shadow = new Shadow()
  readonly log: Array<QueueEvent> = []
  clock = 1_700_000_000_000
  /** How often each kind of thing happened, for the test that all of them do. */
  readonly seen = new Map<string, number>()
  /**
   * Whether checkers of the whole queue run now: at every fourth look, and at the end. A wrong state mostly stays wrong for some
   * changes, and four times as many histories find more than checking after each.
   */
  isCloseLook = false
  /** Numbers the close looks, from a different number in each history, so that costly checks can take turns. */
  turn = 0
  private looks = 0
  private checker: Checker
  private listed: { readonly state: QueueState; readonly tasks: ReadonlyArray<TaskView> } | undefined
  private cleared: { readonly of: QueueState; readonly at: number; readonly copy: QueueState } | undefined
  private points: Array<Point> = []
  private commands = 0
  private lastId = 0
  private readonly trace: Array<TraceEntry> = []

  constructor(
    private readonly makeChecker: () => Checker,
    readonly system: System = daybook,
  ) {
    this.checker = makeChecker()
  }

  run(scenario: Scenario): this {
    try {
      this.looks = this.turn = scenario.steps.length
      this.perform({ type: 'Configure', patch: scenario.settings })
      for (const step of scenario.steps) this.take(step)
      this.look(undefined, [], true)
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error)
      throw new Error(`${cause}\nafter:\n${this.trace.slice(-40).map(traceText).join('\n')}`, { cause: error })
    }
    return this
  }

  /** All tasks as listed. The list is cached per state. */
  get tasks(): ReadonlyArray<TaskView> {
    if (this.listed?.state !== this.state) this.listed = { state: this.state, tasks: listTasks(this.state, {}, Number.MAX_SAFE_INTEGER).tasks }
    return this.listed.tasks
  }

  /** A copy of the state without the finished tasks whose retention is over at `at`. The last one is cached. */
  clearedAt(at: number): QueueState {
    const { cleared, state } = this
    if (cleared?.of === state && cleared.at === at) return cleared.copy
    this.cleared = { of: state, at, copy: forget(fork(state), at, Number.MAX_SAFE_INTEGER) }
    return this.cleared.copy
  }

  newId(): string {
    return `t${++this.lastId}`
  }

  count(what: string, by = 1): void {
    this.seen.set(what, (this.seen.get(what) ?? 0) + by)
  }

  perform(command: Command): Decision {
    const envelope: Envelope = { at: this.clock, random: (++this.commands * 0.618) % 1 }
    this.trace.push({ at: this.clock, command })
    const decision = this.system.decide(command, envelope)(this.state)
    this.checker.command?.(this, command, decision, envelope)
    if (decision._tag === 'Left') {
      this.count(`refused: ${decision.left.code}`)
      this.trace.push({ note: `refused: ${decision.left.code}: ${decision.left.detail}` })
      return decision
    }
    this.observe(command, decision.right)
    decision.right.forEach((event, index) => {
      this.trace.push({ event })
      this.checker.event?.(this, event, decision.right, index)
      this.fold(event)
    })
    // Half of the commands change nothing. If a wrong decider changes the state without an event, that is still there at the next look.
    if (decision.right.length > 0) this.look(command, decision.right)
    return decision
  }

  private look(command: Command | undefined, decided: ReadonlyArray<QueueEvent>, isEnd = false): void {
    this.isCloseLook = ++this.looks % 4 === 0 || isEnd
    if (this.isCloseLook) this.turn++
    this.checker.step?.(this, command, decided)
  }

  private fold(event: QueueEvent): void {
    const finished = this.shadow.gone.length
    this.log.push(event)
    this.state = this.system.evolve(this.state, event)
    this.shadow.fold(event)
    this.checker.note?.(event)
    this.count(event.type)
    if ('cause' in event.data) this.count(`${event.type}: ${event.data.cause}`)
    if (event.type === 'AlertRaised') this.count(`AlertRaised: ${event.data.kind}`)
    if (event.type === 'ScheduleSkipped') this.count(`ScheduleSkipped: ${event.data.why}`)
    if (event.type === 'BatchFinished' && event.data.callback !== undefined) this.count('callback of a batch')
    if (event.type === 'TaskEnqueued' && event.data.batchId !== undefined) this.count('a task that joins a batch')
    if (event.type === 'DeadLettered') this.count(`DeadLettered: ${event.data.reason}`)
    if (event.type === 'TaskAmended') this.count(`TaskAmended: ${this.shadow.task(event.data.task)?.stage}`)
    if (event.type === 'ParkTimedOut') this.count(`ParkTimedOut: ${event.data.onTimeout}`)
    if (event.type === 'RateLimited' && this.shadow.task(event.data.task)?.lease?.probe === true) this.count('rate-limited probe')
    if (event.type === 'TaskParked' && this.shadow.task(event.data.task)?.lease?.probe === true) this.count('parked probe')
    if (event.type === 'Claimed' && event.data.probe === true) this.count('probe')
    if (event.type === 'TaskEnqueued' && this.shadow.ahead(this.shadow.tasks[this.shadow.tasks.length - 1] as ShadowTask) !== undefined) this.count('a task behind another in its line')
    this.count('evicted', this.shadow.gone.length - finished)
  }

  private observe(command: Command, events: ReadonlyArray<QueueEvent>): void {
    if (command.type === 'Claim') this.observeClaim(command, events)
    if (command.type === 'Restart') this.count('restarted')
    if (command.type === 'Enqueue' && events.filter(({ type }) => type === 'TaskEnqueued').length < command.tasks.length) this.count('duplicate')
    if (command.type === 'Cancel' || command.type === 'CancelAll' || command.type === 'Discard') {
      const parents = events.flatMap((event) => (event.type === 'Cancelled' ? (/^Parent (\S+)/u.exec(event.data.reason)?.[1] ?? []) : []))
      const children = events.flatMap((event) => (event.type === 'Cancelled' ? [event.data.task] : []))
      if (parents.some((parent) => parent !== children[0] && children.includes(parent))) this.count('cascade of depth 2')
    }
  }

  private observeClaim({ agent, max }: CommandOf<'Claim'>, events: ReadonlyArray<QueueEvent>): void {
    const { shadow } = this
    const now = Math.max(this.clock, shadow.at)
    const isLast = (id: string): boolean => shadow.tasks.some((task) => task.facts.task === id && shadow.isLast(task, agent, now))
    const got = events.flatMap((event) => (event.type === 'Claimed' ? [event.data.task] : []))
    const known = shadow.registeredAt(now).find((other) => other.agent === agent)
    this.count('taken last', got.filter(isLast).length)
    if (known !== undefined) this.count('claim of a registered agent')
    if (known?.maxTasks !== undefined && known.maxTasks <= shadow.tasks.filter((task) => shadow.isHeld(task) && task.lease?.agent === agent).length) this.count('claim limited by maxTasks')
    const active = shadow.activeAgents()
    const { maxConcurrentAgents } = shadow.settings.capacity
    const bumped = got.filter((id) => shadow.task(id, now)?.isBumped === true).length
    this.count('claim of a bumped task', bumped)
    if (active.size >= maxConcurrentAgents) this.count('claim at capacity')
    if (bumped > 0 && active.size >= maxConcurrentAgents && !active.has(agent)) this.count('start beyond capacity')
    const isLeft = shadow.tasks.some((task) => !got.includes(task.facts.task) && shadow.statusOf(task) === 'pending' && isLast(task.facts.task))
    if (isLeft && got.length < max) this.count('left to another agent')
  }

  private take(step: Step): void {
    switch (step.kind) {
      case 'clock':
        this.clock = Math.max(0, this.clock + step.seconds * 1_000)
        return
      case 'wait':
        this.clock = Math.max(this.clock, nextDue(this.state) ?? this.clock)
        this.perform({ type: 'Tick' })
        return
      case 'alert':
        if (step.late) this.clock = Math.max(this.clock, nextAlertDue(this.state) ?? 0)
        this.perform({ type: 'Tick', alerts: true })
        return
      case 'again': {
        const finished = this.shadow.tasks.filter((task) => this.shadow.isEnded(task))
        const task = at(finished, step.pick)
        if (task === undefined) return
        if (step.late) this.clock = Math.max(this.clock, Math.ceil(nextForgotten(this.state) ?? 0))
        if (!this.shadow.isKnown(task, this.clock)) this.count('again, when it is over')
        const { type, idempotencyKey } = task.facts
        const id = step.by === 'id' ? task.facts.task : this.newId()
        this.perform({ type: 'Enqueue', tasks: [{ id, type, idempotencyKey: step.by === 'key' ? idempotencyKey : `own-${id}`, content: '{}' }] })
        return
      }
      case 'mark':
        if (this.points.length < 4) {
          this.points.push({ contents: contentsOf(this.state), events: this.log.length, mark: mark(this.state) })
        }
        return
      case 'release': {
        const oldest = this.points.shift()
        if (oldest === undefined) return
        release(this.state, oldest.mark)
        this.count('release')
        return
      }
      case 'rollback':
        return this.goBack(this.points[this.points.length - 1 - step.pick])
      case 'reload': {
        if (this.points.length > 0) return
        const before = contentsOf(this.state)
        this.state = this.system.fork(this.state)
        this.count('reload')
        this.holdsAs(before, 'INV-15: a loaded snapshot differs')
        return this.look(undefined, [])
      }
      case 'delete':
        this.perform({ type: 'CancelAll', filter: {}, reason: 'not needed' })
        this.perform({ type: 'Discard', filter: {}, reviewer: 'rev', reason: 'not needed' })
        this.perform({ type: 'DeleteQueue', reason: 'not needed' })
        return
      default: {
        const command = commandOf(this, step)
        if (command !== undefined) this.perform(command)
      }
    }
  }

  private goBack(point: Point | undefined): void {
    if (point === undefined) return
    this.state = this.system.rollback(this.state, point.mark)
    if (this.log.length > point.events) this.count('rollback')
    if (this.points.indexOf(point) < this.points.length - 1) this.count('rollback over marks')
    this.points = this.points.slice(0, this.points.indexOf(point))
    this.log.length = point.events
    this.trace.push({ note: `rolled back to ${point.events} events` })
    this.shadow = Shadow.of(this.log)
    this.checker = this.makeChecker()
    for (const event of this.log) this.checker.note?.(event)
    this.holdsAs(point.contents, 'INV-15: rolled back, yet not as it was')
    this.look(undefined, [])
  }

  /** Checks that the state still has these contents. */
  private holdsAs(contents: Contents, otherwise: string): void {
    holds(areSame(contentsOf(this.state), contents), () => `${otherwise}:\n${differenceOf(textOfContents(contents), textOf(this.state))}`)
  }
}
