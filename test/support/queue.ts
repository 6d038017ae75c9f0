/** An engine on its own store, and helpers for tests. */
import { decodeRecorded, openEngine, type EngineOptions, type Outcome, type QueueEngine, streamOf } from '@daybook/adapters/engine'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore, RecordedEvent, SnapshotStore } from '@daybook/adapters/store'
import {
  type CommandOf,
  evolve,
  initial,
  isUnreadable,
  poisonConsumedStates,
  type PreparedTask,
  type QueueState,
  revisionOf,
  type SettingsPatch,
  skip,
} from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { textOf } from './states/index.js'
import { faultyStore, type FaultyStore } from './faulty-store.js'
import { inTime, patienceMs } from './in-time.js'
import { whileTimeStands } from './virtual-time.js'

export { textOf }

poisonConsumedStates(true)

export const caller = { actor: 'tester' }
export const stream = streamOf('q')

export interface Opened {
  readonly engine: QueueEngine
  readonly store: FaultyStore
  readonly warnings: ReadonlyArray<string>
}

export interface OpenOptions extends EngineOptions {
  readonly store?: EventStore
  readonly snapshots?: SnapshotStore
}

/** A clock that the test sets and that never jumps. The monotonic clock follows it, and stands still when it is set back. */
export const setClock = (clock: () => number): Pick<EngineOptions, 'clock' | 'monotonic' | 'clockJumpMs'> => {
  let before = clock()
  let passed = 0
  const monotonic = (): number => {
    const now = clock()
    passed += Math.max(0, now - before)
    before = now
    return passed
  }
  return { clock, monotonic, clockJumpMs: Number.POSITIVE_INFINITY }
}

/**
 * Queue `q` on a store whose appends are counted and can be made to fail. Leases end at once, unless a test asks for a grace period. A `clock`
 * without a `monotonic` is a clock that the test sets.
 */
export const openQueue = async ({ store: inner = openMemoryStore(), snapshots, ...options }: OpenOptions = {}): Promise<Opened> => {
  const store = faultyStore(inner)
  const warnings: Array<string> = []
  const warn = (message: string): void => void warnings.push(message)
  const report = { skipped: (name: string, reason: string) => warn(`${name}: ${reason}`), progress: () => undefined }
  const engine = await openEngine(store, 'q', snapshots, report, {
    random: () => 0.5,
    warn,
    leaseGraceMs: 0,
    ...options,
    ...(options.clock === undefined || options.monotonic !== undefined ? {} : setClock(options.clock)),
  })
  return { engine: answering(engine), store, warnings }
}

/** The same engine, but a call that is never answered is rejected. */
const answering = (engine: QueueEngine): QueueEngine => {
  // Some tests send malformed commands.
  const nameOf = (command: unknown): string => {
    const type = (command as { readonly type?: unknown } | null)?.type
    return `an answer to ${typeof type === 'string' ? type : 'a command'}`
  }
  let closed: Promise<void> | undefined
  return {
    name: engine.name,
    committed: engine.committed,
    submit: (command, by) => inTime(nameOf(command), engine.submit(command, by)),
    submitAll: (commands, by) => inTime(`answers to ${commands.length} commands`, engine.submitAll(commands, by)),
    claim: (command, by, options) => inTime(nameOf(command), engine.claim(command, by, options), Math.min((options?.waitMs ?? 0) + patienceMs, 2 ** 31 - 1)),
    erase: (id, reason, by) => inTime('an answer to an erasure', engine.erase(id, reason, by)),
    read: (query) => inTime('an answer to a query', engine.read(query)),
    reached: (revision, waitMs) => engine.reached(revision, waitMs),
    nextSettled: (task, waitMs, signal) => engine.nextSettled(task, waitMs, signal),
    contents: (revisions) => inTime('contents', engine.contents(revisions)),
    takeBack: (claims, reason) => engine.takeBack(claims, reason),
    status: () => engine.status(),
    close: () => (closed ??= inTime('the end of the engine', engine.close())),
  }
}

export const task = (id: string, more: Partial<PreparedTask> = {}): PreparedTask => ({
  id,
  type: 'work',
  idempotencyKey: id,
  content: `{"payload":"of ${id}"}`,
  timeout: 60,
  ...more,
})
export const enqueue = (...tasks: ReadonlyArray<PreparedTask | string>): CommandOf<'Enqueue'> => ({
  type: 'Enqueue',
  tasks: tasks.map((each) => (typeof each === 'string' ? task(each) : each)),
})
export const claim = (agent = 'ann', max = 1): CommandOf<'Claim'> => ({ type: 'Claim', agent, max })
export const configure = (patch: SettingsPatch): CommandOf<'Configure'> => ({ type: 'Configure', patch })

interface Held {
  readonly task: string
  readonly token: number
}
export const complete = ({ task, token }: Held, agent = 'ann'): CommandOf<'Complete'> => ({
  type: 'Complete',
  task,
  agent,
  token,
  content: '{"decisionReport":"done"}',
  hasReport: true,
})
export const fail = ({ task, token }: Held, agent = 'ann', retryable = true): CommandOf<'Fail'> => ({
  type: 'Fail',
  task,
  agent,
  token,
  error: { message: 'no luck' },
  retryable,
})
export const heartbeat = ({ task, token }: Held, agent = 'ann'): CommandOf<'Heartbeat'> => ({ type: 'Heartbeat', task, agent, token })

/** The value of an outcome that must be a success. */
export const ok = <A>(outcome: Outcome<A>): A => {
  if (E.isLeft(outcome)) throw new Error(`refused: ${outcome.left.code}: ${outcome.left.detail}`)
  return outcome.right.value
}
/** The code of an outcome that must be a refusal. */
export const codeOf = (outcome: Outcome<unknown>): string => (E.isLeft(outcome) ? outcome.left.code : 'success')

export const logOf = async (store: EventStore): Promise<ReadonlyArray<RecordedEvent>> => {
  const log: Array<RecordedEvent> = []
  for await (const page of store.read(stream)) log.push(...page)
  return log
}
export const typesIn = async (store: EventStore): Promise<ReadonlyArray<string>> => (await logOf(store)).map(({ type }) => type)

/** The log folded from the beginning, one event at a time. */
export const foldAll = (log: ReadonlyArray<RecordedEvent>): QueueState =>
  log.reduce((state, recorded) => {
    const event = decodeRecorded(recorded)
    return isUnreadable(event) ? skip(state, recorded.type, event) : evolve(state, event)
  }, initial('q'))

/** The engine's state as text, and its revision. */
export const stateAt = async (engine: QueueEngine): Promise<{ readonly text: string; readonly revision: number }> =>
  ok(await engine.read((state) => ({ text: textOf(state), revision: revisionOf(state) })))
export const stateText = async (engine: QueueEngine): Promise<string> => (await stateAt(engine)).text

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Lets everything that is ready run: some turns of the event loop. */
export const settle = (): Promise<void> =>
  whileTimeStands(async () => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
  })

/** Whether a promise is settled. */
export const isSettled = async (promise: Promise<unknown>): Promise<boolean> => {
  const pending = {}
  await settle()
  return (await Promise.race([promise, Promise.resolve(pending)])) !== pending
}

export const until = async (holds: () => boolean | Promise<boolean>, msMax = patienceMs): Promise<void> => {
  for (const end = Date.now() + msMax; Date.now() < end; await sleep(2)) if (await holds()) return
  throw new Error(`not within ${msMax} ms: ${holds.toString()}`)
}
