/**
 * Runs a scenario against a system (the real one, or one with a defect) together with its {@link Shadow}. Checkers
 * see every command, every event and every state on the way.
 */
import {
  type Command,
  decide,
  type Decision,
  type Envelope,
  evolve,
  fork,
  initial,
  listTasks,
  mark,
  type Mark,
  nextDue,
  nextForgotten,
  type QueueEvent,
  type QueueState,
  release,
  rollback,
  type TaskView,
} from '@daybook/core'
import { differenceOf, Shadow, type ShadowLease, type ShadowTask, textOf } from '@daybook/core/testing'
import { agents, type Scenario, skillNames, type Step, type TaskSpec, taskTypes, tenants } from './steps.js'

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
  /** A command and all its events, or another step, are done. */
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
  readonly text: string
}

export class World {
  state: QueueState = initial('q')
  shadow = new Shadow()
  readonly log: Array<QueueEvent> = []
  clock = 1_700_000_000_000
  /** How often each kind of thing happened, for the test that all of them do. */
  readonly seen = new Map<string, number>()
  /**
   * Whether checkers of the whole queue run now: at every fourth step, and at the last. A wrong state mostly stays wrong for some
   * steps, and four times as many histories find more than checking every step.
   */
  isCloseLook = false
  private checker: Checker
  private listed: { readonly state: QueueState; readonly tasks: ReadonlyArray<TaskView> } | undefined
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
    const { length } = scenario.steps
    try {
      this.perform({ type: 'Configure', patch: scenario.settings })
      scenario.steps.forEach((step, index) => {
        this.isCloseLook = index % 4 === length % 4 || index === length - 1
        this.take(step)
      })
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
      this.checker.step?.(this, command, [])
      return decision
    }
    this.observe(command, decision.right)
    decision.right.forEach((event, index) => {
      this.trace.push({ event })
      this.checker.event?.(this, event, decision.right, index)
      this.fold(event)
    })
    this.checker.step?.(this, command, decision.right)
    return decision
  }

  private fold(event: QueueEvent): void {
    const finished = this.shadow.gone.length
    this.log.push(event)
    this.state = this.system.evolve(this.state, event)
    this.shadow.fold(event)
    this.checker.note?.(event)
    this.count(event.type)
    if ('cause' in event.data) this.count(`${event.type}: ${event.data.cause}`)
    if (event.type === 'DeadLettered') this.count(`DeadLettered: ${event.data.reason}`)
    if (event.type === 'Claimed' && event.data.probe === true) this.count('probe')
    this.count('evicted', this.shadow.gone.length - finished)
  }

  private observe(command: Command, events: ReadonlyArray<QueueEvent>): void {
    if (command.type === 'Enqueue' && events.length < command.tasks.length) this.count('duplicate')
    if (command.type === 'Cancel' || command.type === 'CancelAll' || command.type === 'Discard') {
      const parents = events.flatMap((event) => (event.type === 'Cancelled' ? (/^Parent (\S+)/u.exec(event.data.reason)?.[1] ?? []) : []))
      const children = events.flatMap((event) => (event.type === 'Cancelled' ? [event.data.task] : []))
      if (parents.some((parent) => parent !== children[0] && children.includes(parent))) this.count('cascade of depth 2')
    }
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
      case 'again': {
        const finished = this.shadow.tasks.filter((task) => this.shadow.isEnded(task))
        const task = at(finished, step.pick)
        if (task === undefined) return
        if (step.late) this.clock = Math.max(this.clock, Math.ceil(nextForgotten(this.state) ?? 0))
        if (!this.shadow.isKnown(task, this.clock)) this.count('again, when it is over')
        const { type, idempotencyKey } = task.facts
        const id = step.by === 'id' ? task.facts.task : `t${++this.lastId}`
        this.perform({ type: 'Enqueue', tasks: [{ id, type, idempotencyKey: step.by === 'key' ? idempotencyKey : `own-${id}`, content: '{}' }] })
        return
      }
      case 'mark':
        if (this.points.length < 4) {
          this.points.push({ text: textOf(this.state), events: this.log.length, mark: mark(this.state) })
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
        const text = textOf(this.state)
        this.state = this.system.fork(this.state)
        this.count('reload')
        holds(textOf(this.state) === text, () => `INV-15: a loaded snapshot differs:\n${differenceOf(text, textOf(this.state))}`)
        return this.checker.step?.(this, undefined, [])
      }
      case 'delete':
        this.perform({ type: 'CancelAll', filter: {}, reason: 'not needed' })
        this.perform({ type: 'Discard', filter: {}, reviewer: 'rev', reason: 'not needed' })
        this.perform({ type: 'DeleteQueue', reason: 'not needed' })
        return
      default: {
        const command = this.commandOf(step)
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
    holds(textOf(this.state) === point.text, () => `INV-15: rolled back, yet not as it was:\n${differenceOf(point.text, textOf(this.state))}`)
    this.checker.step?.(this, undefined, [])
  }

  // ---------------------------------------------------------- steps to commands

  private commandOf(step: Step): Command | undefined {
    const { shadow } = this
    switch (step.kind) {
      case 'enqueue':
        return { type: 'Enqueue', tasks: this.prepared(step.tasks) }
      case 'import':
        return {
          type: 'Import',
          tasks: this.prepared(step.tasks).map((task, i) => {
            const { status } = step.tasks[i] as { readonly status: 'pending' | 'completed' | 'cancelled' | 'dead-letter' }
            const history = { createdAt: this.clock - 9_000, finishedAt: this.clock - 1_000, retries: 1, lastError: 'as imported' }
            return { ...task, status, ...(status === 'pending' ? {} : history) }
          }),
        }
      case 'claim':
        return {
          type: 'Claim',
          agent: at(agents, step.agent),
          max: step.max,
          skills: skillNames.slice(0, step.skills),
          ...(step.types === null ? {} : { types: step.types }),
          ...(step.phase === null ? {} : { phases: [step.phase] }),
          ...(step.tenant === null ? {} : { tenant: at(tenants, step.tenant) }),
          ...(step.leaseSeconds === null ? {} : { leaseSeconds: step.leaseSeconds }),
        }
      case 'report':
        return this.report(step)
      case 'cancel':
        return map(at(shadow.tasks, step.pick), (task) => {
          // In half of the cases a dependency of the task, so that cascades get deep.
          const [first] = step.pick % 2 === 0 ? shadow.missing(task) : []
          return { type: 'Cancel', task: first ?? task.facts.task, reason: 'not needed' }
        })
      case 'cancelAll': {
        const type = taskTypes[step.type]
        return {
          type: 'CancelAll',
          reason: 'not needed',
          max: step.max,
          filter: { ...(type === undefined ? {} : { type }), ...(step.status === null ? {} : { statuses: [step.status] }) },
        }
      }
      case 'review': {
        const by = { type: step.verb, reviewer: 'rev', reason: 'looked at it' }
        if (step.pick === null) {
          const type = taskTypes[step.type]
          return { ...by, filter: type === undefined ? {} : { type } }
        }
        const dead = shadow.tasks.filter((task) => task.stage === 'dead-letter')
        return map(at(dead, step.pick), (task) => ({ ...by, task: task.facts.task }))
      }
      case 'breaker':
        return { type: step.verb, taskType: at(taskTypes, step.type), reason: 'by hand' }
      case 'terminate':
        return {
          type: 'TerminateAgent',
          agent: at(shadow.tasks.filter((task) => shadow.isHeld(task)), step.agent)?.lease?.agent ?? 'nobody',
          reason: 'gone',
        }
      case 'configure':
        return { type: 'Configure', patch: step.patch }
      case 'pause':
        return { type: 'Pause', reason: 'lunch' }
      case 'resume':
        return { type: 'Resume', reason: 'back' }
      case 'tick':
        return { type: 'Tick' }
      default:
        return undefined
    }
  }

  private prepared(specs: ReadonlyArray<TaskSpec>) {
    const ids = specs.map(({ reuseId }) => {
      const known = reuseId === null ? undefined : at([...this.shadow.gone.slice(-3), ...this.shadow.tasks], reuseId)
      return known?.facts.task ?? `t${++this.lastId}`
    })
    // In a request a task may also depend on a later one, which sometimes makes a cycle.
    const population = [...this.shadow.tasks.slice(-8).map((task) => task.facts.task), ...ids]
    return specs.map((spec, i) => {
      const id = ids[i] as string
      return {
        id,
        type: at(taskTypes, spec.type),
        idempotencyKey: spec.key === null ? `own-${id}` : `key-${spec.key}`,
        content: '{}',
        ...(spec.isContentKey ? { isContentKey: true as const } : {}),
        // An id that is in use already was given by the producer.
        ...(spec.isMadeId && spec.reuseId === null ? { isMadeId: true as const } : {}),
        ...(spec.deduplicate === null ? {} : { deduplicate: spec.deduplicate }),
        priority: spec.priority,
        timeout: spec.timeout,
        maxRetries: spec.maxRetries,
        backoffSeconds: spec.backoffSeconds,
        dependencies: spec.dependencies.map((d) => at(population, d)).filter((d) => d !== id),
        skills: spec.skills.map((skill) => at(skillNames, skill)),
        ...(spec.delaySeconds === 0 ? {} : { availableAt: this.clock + spec.delaySeconds * 1_000 }),
        ...((spec.deadlineSeconds ?? null) === null ? {} : { deadlineAt: this.clock + Number(spec.deadlineSeconds) * 1_000 }),
        ...(spec.phase === null ? {} : { phase: spec.phase }),
        ...(spec.tenant === null ? {} : { tenant: at(tenants, spec.tenant) }),
        ...(spec.ticket === null ? {} : { ticketId: `T-${spec.ticket}` }),
      }
    })
  }

  /** Who reports, and by which token. */
  private reporter(
    who: Extract<Step, { kind: 'report' }>['who'],
    task: ShadowTask,
    { agent, token }: ShadowLease,
    held: ReadonlyArray<ShadowTask>,
  ): { readonly agent: string; readonly token: number } | undefined {
    switch (who) {
      case 'holder':
        return { agent, token }
      case 'other':
        return { agent: at(agents, agents.indexOf(agent as 'ann') + 1), token }
      case 'stale': {
        const first = this.log.find((event) => event.type === 'Claimed' && event.data.task === task.facts.task)
        return first?.type === 'Claimed' ? { agent: first.data.agent, token: first.data.token } : { agent, token }
      }
      case 'crossed': {
        const another = held.find((each) => each !== task && each.lease?.agent === agent)
        if (another?.lease) this.count('crossed tokens')
        return another?.lease ? { agent, token: another.lease.token } : undefined
      }
    }
  }

  private report(step: Extract<Step, { kind: 'report' }>): Command | undefined {
    const { shadow } = this
    const held = shadow.tasks.filter((task) => shadow.isHeld(task))
    const once = shadow.tasks.filter((task) => task.lease !== null)
    const task: ShadowTask | undefined = step.who === 'stale' ? at(once, step.pick) : at(held, step.pick)
    const { lease } = task ?? {}
    if (task === undefined || !lease) return undefined
    const holder = this.reporter(step.who, task, lease, held)
    if (holder === undefined) return undefined
    const claim = { task: task.facts.task, ...holder }
    const message = ['ENOENT /tmp/7 after 31 ms', 'timeout of 500 ms', 'assertion 3 failed'][step.error] ?? ''
    const checkpoint = step.error === 2 ? { checkpoint: { at: step.pick } } : {}
    const progress = step.error === 1 ? { progress: step.pick } : {}
    switch (step.how) {
      case 'complete':
      case 'bare':
        return { type: 'Complete', ...claim, content: '{}', hasReport: step.how === 'complete' }
      case 'fail':
      case 'fatal':
        return { type: 'Fail', ...claim, error: { message }, retryable: step.how === 'fail', ...checkpoint }
      case 'release':
        return { type: 'Release', ...claim, reason: 'not mine', ...[{}, { undelivered: true as const }, { stopping: true as const }][step.error] }
      case 'heartbeat':
        return { type: 'Heartbeat', ...claim, ...checkpoint, ...progress }
    }
  }
}

const at = <T>(list: ReadonlyArray<T>, index: number): T => list[index % list.length] as T
const map = <A, B>(value: A | undefined, to: (value: A) => B): B | undefined => (value === undefined ? undefined : to(value))
