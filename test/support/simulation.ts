/**
 * Many callers on a store with random faults, followed by a time without faults. Everything is drawn from one seed except the interleaving, which the
 * event loop determines. The checks hold for any interleaving.
 */
import { openEngine, type Outcome, type QueueEngine } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore } from '@daybook/adapters/store'
import { type ClaimedTask, type Command, type CommandOf, depthOf, isClaimable, isFinal, isUnreadable, listTasks } from '@daybook/core'
import { differenceOf } from './states/index.js'
import { answersMatchLog, holds, leasesAreUnique, type LogEntry, nothingIsLost, readLog, type Exchange } from './audit.js'
import { chainIsWhole } from './chain.js'
import { faultyStore, type FaultyStore, swarm } from './faulty-store.js'
import { memorySnapshots, type MemorySnapshots } from './memory-snapshots.js'
import { complete, configure, enqueue, fail, foldAll, heartbeat, logOf, ok, sleep, stateAt, stream, task, textOf } from './queue.js'
import { below, oneOf, type Random, randomOf } from './random.js'

export interface SimulationOptions {
  /** Number of engines on the queue. */
  readonly engines: 1 | 2
  /**
   * The store inside the faulty store. It may have its own faults until it is healed. `patient`: the same log for the checks, without the short time
   * limits of the engine's, which a slow machine reaches without any fault. Default: memory.
   */
  readonly store?: (seed: number) => Promise<{ readonly inner: EventStore; readonly heal: () => void; readonly patient: EventStore }>
  /** Plants a defect. */
  readonly breakStore?: (store: EventStore) => EventStore
  readonly breakEngine?: (engine: QueueEngine) => QueueEngine
}

export interface SimulationReport {
  readonly events: number
  readonly exchanges: ReadonlyArray<Exchange>
}

const yearMs = 365 * 86_400_000
const callers = 14
const commandsEach = 20

/** A generous limit that is reached only on failure. Defects are found by the checks, not by this limit. */
const msMax = 300_000

const inMemory = (isShared: boolean): { readonly inner: EventStore; readonly heal: () => void; readonly patient: EventStore } => {
  const inner = openMemoryStore({ isShared })
  return { inner, heal: () => undefined, patient: inner }
}

export const simulate = async (seed: number, options: SimulationOptions): Promise<SimulationReport> => {
  const random = randomOf(seed)
  const { inner, heal, patient } = (await options.store?.(seed)) ?? inMemory(options.engines > 1 || random() < 0.5)
  const clocks = Array.from({ length: options.engines }, () => ({ offset: 0 }))
  const snapshots = memorySnapshots()
  const opened = await Promise.all(
    Array.from({ length: options.engines }, async (_, index) => {
      const broken = options.breakStore?.(inner) ?? inner
      const store = faultyStore(broken, swarm(randomOf(seed * 7 + index)))
      const engine = await openEngine(store, 'q', snapshots, { skipped: () => undefined, progress: () => undefined }, {
        random,
        clock: () => Date.now() + (clocks[index] as Clock).offset,
        leaseGraceMs: oneOf(random, [0, 30]),
        snapshotEvery: oneOf(random, [30, 100, 1_000]),
        batchEventsMax: oneOf(random, [5, 50, 4_000]),
      })
      return { store, engine: options.breakEngine?.(engine) ?? engine }
    }),
  )
  const engines = opened.map(({ engine }) => engine)
  try {
    return await runAndCheck({ random, inner, heal, patient, clocks, snapshots, opened, engines, isMemory: options.store === undefined })
  } finally {
    // Not awaited: after a failure they may never close.
    for (const engine of engines) void engine.close()
  }
}

/** How far a server's clock is ahead, in milliseconds. */
interface Clock {
  offset: number
}

interface Run {
  readonly random: Random
  readonly inner: EventStore
  readonly patient: EventStore
  readonly heal: () => void
  readonly clocks: ReadonlyArray<Clock>
  readonly snapshots: MemorySnapshots
  readonly opened: ReadonlyArray<{ readonly store: FaultyStore; readonly engine: QueueEngine }>
  readonly engines: ReadonlyArray<QueueEngine>
  readonly isMemory: boolean
}

const runAndCheck = async ({ random, inner, heal, patient, clocks, snapshots, opened, engines, isMemory }: Run): Promise<SimulationReport> => {
  const committed: Array<string> = []
  engines[0]?.committed.subscribe(({ from, events }) => events.forEach((event, i) => committed.push(`${from + i} ${isUnreadable(event) ? 'unreadable' : event.type}`)))
  const run = new Callers(random, engines, clocks, isMemory ? inner : undefined)

  // 1. The faults. Without these settings the breakers would stay open for a minute, so they are sent until they are accepted.
  const settings = configure({ capacity: { maxConcurrentAgents: oneOf(random, [1, 3, 100]), bumpAndStart: true }, maxAttempts: 6, defaults: { jitter: 0 }, breakers: { defaults: { failureThreshold: 4, halfOpenAfter: 0.03 } } })
  while ((await run.send(settings))._tag === 'Left') await sleep(5)
  await within('the storm', Promise.all(Array.from({ length: callers }, (_, i) => run.caller(i, opened))))

  // 2. No more faults. The log is checked first: after a wrong answer, the following steps might never end.
  for (const { store } of opened) store.heal()
  heal()
  await logIsRight(run.exchanges, patient)

  // 3. All leases end and every task is finished.
  await within('every task ends', run.drain())
  const log = await logIsRight(run.exchanges, patient)
  nothingIsLost(log)
  for (const engine of engines) await stateIsFold(engine, patient)
  if (engines.length === 1) {
    const types = log.map(({ recorded }) => `${recorded.revision} ${recorded.type}`)
    holds(committed.slice(0, types.length).join() === types.join(), 'committed events differ from the log')
  }
  await within('the close', Promise.all(engines.map((engine) => engine.close())))
  const again = await openEngine(patient, 'q', snapshots, { skipped: () => undefined, progress: () => undefined })
  await stateIsFold(again, patient)
  return { events: log.length, exchanges: run.exchanges }
}

const logIsRight = async (exchanges: ReadonlyArray<Exchange>, store: EventStore): Promise<ReadonlyArray<LogEntry>> => {
  const answered = [...exchanges]
  const recorded = await logOf(store)
  const log = readLog(recorded)
  answersMatchLog(answered, log)
  leasesAreUnique(log)
  chainIsWhole(recorded)
  return log
}

/** Fails with the name of the work if it takes too long. */
const within = async (what: string, work: Promise<unknown>): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`liveness: ${what} took longer than ${msMax} ms`)), msMax)
  })
  try {
    await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** Timers may append events meanwhile, so the log is read after the state and folded up to the state's revision. */
const stateIsFold = async (engine: QueueEngine, store: EventStore): Promise<void> => {
  const { text, revision } = await stateAt(engine)
  const fold = textOf(foldAll((await logOf(store)).slice(0, revision + 1)))
  if (text === fold) return
  throw new Error(`INV-15: the engine's state is not the fold of its log:\n${differenceOf(text, fold)}`)
}

/** The revision at which a claim of this agent would get a task; `undefined` if it would get none. */
const claimableAt = async (engine: QueueEngine, agent: string): Promise<number | undefined> => {
  const read = await engine.read((state) => isClaimable(state, { agent }))
  return ok(read) && read._tag === 'Right' ? read.right.revision : undefined
}

class Callers {
  readonly exchanges: Array<Exchange> = []
  private lastId = 0

  constructor(
    private readonly random: Random,
    private readonly engines: ReadonlyArray<QueueEngine>,
    private readonly clocks: ReadonlyArray<Clock>,
    /** The log, which must contain every acknowledged command at once. */
    private readonly log: EventStore | undefined,
  ) {}

  private get engine(): QueueEngine {
    return oneOf(this.random, this.engines)
  }

  async send<C extends Command>(command: C, engine = this.engine): Promise<Outcome<unknown>> {
    const id = `c${++this.lastId}`
    const outcome = await engine.submit(command, { actor: 'caller', correlationId: id })
    await this.note({ id, command, outcome })
    return outcome
  }

  /** Checks at once that the acknowledged revision is in the log. This finds an engine that goes on for ever with a wrong state. */
  private async note(exchange: Exchange): Promise<void> {
    this.exchanges.push(exchange)
    const { outcome, id } = exchange
    if (outcome._tag === 'Left' || this.log === undefined) return
    const head = await this.log.head(stream)
    holds(outcome.right.revision <= head, () => `INV-19: ${id} was told revision ${outcome.right.revision}, and the log ends at ${head}`)
  }

  async claim(command: CommandOf<'Claim'>, waitMs: number, leaveMs: number): Promise<ReadonlyArray<ClaimedTask>> {
    const id = `c${++this.lastId}`
    const leaving = new AbortController()
    const timer = setTimeout(() => leaving.abort(), leaveMs)
    const outcome = await this.engine.claim(command, { actor: command.agent, correlationId: id }, { waitMs, signal: leaving.signal })
    clearTimeout(timer)
    await this.note({ id, command, outcome })
    if (outcome._tag === 'Left') return []
    for (const { task: name, content } of outcome.right.value) {
      holds(content === `{"payload":"of ${name}"}`, `INV-19: ${name} was handed out with the content of another: ${content}`)
    }
    return outcome.right.value
  }

  /** One caller: sends random commands, one after the other. */
  async caller(index: number, opened: ReadonlyArray<{ store: { failReads: number } }>): Promise<void> {
    const { random } = this
    const agent = `agent ${index}`
    for (let step = 0; step < commandsEach; step++) {
      const name = `t${index}-${step}`
      switch (below(random, 12)) {
        case 0:
        case 1:
        case 2: {
          const tasks = Array.from({ length: 1 + below(random, 4) }, (_, i) => this.newTask(`${name}-${i}`, index, step))
          await this.send(enqueue(...tasks))
          if (random() < 0.2) await this.send(enqueue(...tasks))
          break
        }
        case 3:
          await Promise.all(Array.from({ length: 6 }, (_, i) => this.send(enqueue(this.newTask(`${name}-${i}`, index, step)))))
          break
        case 4:
          await this.send({ type: 'Cancel', task: `t${below(random, callers)}-${below(random, commandsEach)}-0`, reason: 'no' })
          break
        case 5:
          if (random() < 0.5) await this.send({ type: 'TerminateAgent', agent: `agent ${below(random, callers)}`, reason: 'gone' })
          else this.setClock(below(random, 400) - 200)
          // Wrong for a moment: far ahead, which is refused; or behind, where time goes on from the last event.
          if (random() < 0.2) this.setClock(random() < 0.5 ? yearMs : -yearMs)
          break
        case 6: {
          const read = await this.engine.read((state) => depthOf(state).total)
          holds(read._tag === 'Right' || read.left.code === 'overloaded', 'a read was refused')
          if (random() < 0.2) oneOf(random, opened).store.failReads = 1
          break
        }
        default:
          for (const held of await this.claim({ type: 'Claim', agent, max: 1 + below(random, 3) }, below(random, 15), random() < 0.2 ? 3 : 1_000)) {
            await this.work(held, agent)
          }
      }
      if (random() < 0.3) await sleep(below(random, 4))
    }
  }

  private setClock(offset: number): void {
    oneOf(this.random, this.clocks).offset = offset
  }

  private newTask(name: string, index: number, step: number) {
    const { random } = this
    const earlier = step > 0 && random() < 0.15 ? { dependencies: [`t${index}-${below(random, step)}-0`] } : {}
    const delay = random() < 0.1 ? { availableAt: Date.now() + below(random, 50) } : {}
    return task(name, {
      ...earlier,
      ...delay,
      type: oneOf(random, ['work', 'toil', 'play']),
      timeout: oneOf(random, [0.02, 0.2, 2]),
      maxRetries: below(random, 4),
      backoffSeconds: oneOf(random, [0, 0.01]),
      priority: 1 + below(random, 10),
    })
  }

  private async work(held: ClaimedTask, agent: string): Promise<void> {
    const { random } = this
    const claim = { task: held.task, token: held.token }
    if (random() < 0.2) await sleep(below(random, 40))
    if (random() < 0.2) await this.send(heartbeat(claim, agent))
    if (random() < 0.1) return
    const report: Command = random() < 0.7 ? complete(claim, agent)
      : random() < 0.7 ? fail(claim, agent, random() < 0.8)
      : { type: 'Release', ...claim, agent, reason: 'not mine' }
    for (let attempt = 0; attempt < 3; attempt++) {
      const outcome = await this.send(report)
      if (outcome._tag === 'Right' || (outcome.left.code !== 'unavailable' && outcome.left.code !== 'clock')) return
    }
  }

  /** Works until every task is finished. A reviewer discards tasks that cannot be done. */
  async drain(): Promise<void> {
    for (const clock of this.clocks) clock.offset = 1_000
    for (let round = 0; ; round++) {
      for (const engine of this.engines) {
        const agent = `fresh ${round}`
        // An engine learns what another engine has appended when it appends itself.
        if (this.engines.length > 1) await this.send({ type: 'OpenBreaker', taskType: 'none', reason: 'to catch up' }, engine)
        const id = `c${++this.lastId}`
        const command: CommandOf<'Claim'> = { type: 'Claim', agent, max: 50 }
        const before = await claimableAt(engine, agent)
        const outcome = await engine.claim(command, { actor: agent, correlationId: id })
        await this.note({ id, command, outcome })
        const claims = ok(outcome)
        // If a lease had ended or a breaker had changed in between, the revision would differ.
        if (claims.length === 0) {
          holds(before === undefined || before !== (await claimableAt(engine, agent)), 'liveness: a task can be claimed, and is not handed out')
          await sleep(5)
        }
        await Promise.all(claims.map((held) => this.send(complete(held, agent), engine)))
        await this.send({ type: 'Discard', reviewer: 'r', reason: 'give up', filter: {} }, engine)
        const open = ok(await engine.read((state) => listTasks(state, {}, 10_000).tasks.filter(({ status }) => !isFinal(status)).length))
        if (open === 0 && this.engines.length === 1) return
        // With two engines, one may not know yet what the other has done. Only the log is complete.
        if (open === 0 && (await this.allEnded())) return
      }
    }
  }

  private async allEnded(): Promise<boolean> {
    for (const engine of this.engines) {
      const open = ok(await engine.read((state) => listTasks(state, {}, 10_000).tasks.filter(({ status }) => !isFinal(status)).length))
      if (open > 0) return false
    }
    return true
  }
}
