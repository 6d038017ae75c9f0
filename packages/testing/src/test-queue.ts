/**
 * A queue for tests: the real engine in memory, with a clock that moves only when the test moves it. Leases, delays, retries, schedules, breakers and
 * waiting claims use that clock. It needs no test runner: errors are those of `node:assert`.
 */
import { AssertionError } from 'node:assert'
import { openEmbedded } from '@daybook/adapters/embedded'
import type { DaybookClient, SettingsPatch, Status, TaskView } from '@daybook/client'
import { drain, type Drained, type DrainOptions, type Handlers } from './drain.js'
import { findWanted, type WantedTask } from './enqueued.js'
import { FakeClock } from './fake-clock.js'

// The real timers, even in tests with fake timers.
const { setImmediate, setTimeout, clearTimeout } = globalThis

export interface TestQueueOptions {
  /** The initial time of the clock: milliseconds since 1970 and more than 0, ISO 8601 text or a `Date`. Default: the present time. */
  readonly now?: number | string | Date | undefined
  /** Settings that differ from the defaults. */
  readonly settings?: SettingsPatch | undefined
  /** The queue's name. Default `default`. */
  readonly queue?: string | undefined
  /** Returns a number in [0, 1), for jitter. Default 0: a retry comes exactly when its backoff is over. */
  readonly random?: (() => number) | undefined
}

export interface TestQueue {
  /** A client for the code under test. It behaves like the client of a server. */
  readonly client: DaybookClient
  /** The queue's time. */
  readonly now: () => Date
  /** Moves the clock by this many milliseconds, from timer to timer, and waits until everything that was due is done. */
  readonly advance: (ms: number) => Promise<void>
  /** Runs handlers until nothing is ready, see {@link DrainOptions}. An assertion that fails in a handler fails the test. */
  readonly drain: (handlers: Handlers, options?: DrainOptions) => Promise<Drained>
  /** The first task with all of these members, including finished tasks. Rejects with an `AssertionError` that lists what was enqueued instead. */
  readonly assertEnqueued: (wanted: WantedTask) => Promise<TaskView>
  /**
   * Waits until the task has this status; at most `withinMs` real milliseconds, by default 5,000. The queue's clock does not move by itself. Rejects
   * with an `AssertionError` that has the task's status.
   */
  readonly waitForState: (id: string, status: Status, options?: { readonly withinMs?: number }) => Promise<TaskView>
  readonly close: () => Promise<void>
}

/**
 * @example
 * const queue = await createTestQueue()
 * await signUp(queue.client, 'ada@example.org')
 * await queue.assertEnqueued({ type: 'mail', payload: { to: 'ada@example.org' } })
 * await queue.close()
 */
export const createTestQueue = async ({ now = Date.now(), settings, queue, random = () => 0 }: TestQueueOptions = {}): Promise<TestQueue> => {
  const first = new Date(now).getTime()
  if (Number.isNaN(first)) throw new RangeError(`now must be a time, and not ${String(now)}`)
  // A queue takes what finished at 0 for forgotten.
  if (first <= 0) throw new RangeError(`now must be after 1970-01-01T00:00:00.000Z, and not ${new Date(first).toISOString()}`)
  const clock = new FakeClock(first)
  const began = clock.now()
  const monotonic = (): number => clock.now() - began
  const client = await openEmbedded({
    name: 'test',
    ...(queue === undefined ? {} : { queue }),
    ...(settings === undefined ? {} : { settings }),
    engine: { clock: clock.now, monotonic, uptime: monotonic, timers: clock.timers, random, leaseGraceMs: 0, clockJumpMs: Number.POSITIVE_INFINITY },
  })
  const { daybook } = client

  /** A read is answered when everything before it is durable and everything due is done. Callers get their answers in the turns between. */
  const settle = async (): Promise<void> => {
    for (let revision = -1, quiet = 0; quiet < 3; ) {
      await new Promise<void>((resolve) => setImmediate(resolve))
      await Promise.all(daybook.queues().map((each) => each.read(() => undefined)))
      const sum = daybook.queues().reduce((all, each) => all + each.status().revision, 0)
      quiet = sum === revision ? quiet + 1 : 0
      revision = sum
    }
  }

  const waitForState: TestQueue['waitForState'] = async (id, status, { withinMs = 5_000 } = {}) => {
    const engine = await daybook.open(client.queue)
    let changed = (): void => undefined
    let isLate = false
    const listening = engine.committed.subscribe({ next: () => changed() })
    const timer = setTimeout(() => {
      isLate = true
      changed()
    }, withinMs)
    try {
      for (;;) {
        const next = new Promise<void>((resolve) => (changed = resolve))
        const task = await client.task(id)
        if (task.status === status) return task
        if (isLate || finals.has(task.status)) throw new AssertionError({ message: standing(task, status, clock.now()), actual: task.status, expected: status, operator: 'waitForState', stackStartFn: waitForState })
        if (!isLate) await next
      }
    } finally {
      clearTimeout(timer)
      listening.unsubscribe()
    }
  }

  const everyTask = async (): Promise<ReadonlyArray<TaskView>> => {
    const tasks: Array<TaskView> = []
    for await (const task of client.eachTask()) tasks.push(task)
    return tasks.sort((a, b) => a.number - b.number)
  }

  return {
    client,
    now: () => new Date(clock.now()),
    advance: (ms) => {
      if (!(ms >= 0 && ms < Number.POSITIVE_INFINITY)) throw new RangeError(`time goes forward, and comes to no end: advance(${ms}) is not possible`)
      return clock.moveTo(clock.now() + ms, settle)
    },
    drain: (handlers, options) => drain({ client, clock, settle }, handlers, options),
    assertEnqueued: async (wanted) => findWanted(wanted, await everyTask()),
    waitForState,
    close: () => client.close(),
  }
}

const finals: ReadonlySet<Status> = new Set(['completed', 'cancelled', 'discarded'])

const standing = ({ id, status, availableAt, lastError, reasons = [] }: TaskView, wanted: Status, now: number): string => {
  const until = status === 'scheduled' && availableAt !== undefined ? ` until ${availableAt}: advance the clock by ${Date.parse(availableAt) - now} ms` : ''
  const error = lastError === null ? '' : `; its last error: ${lastError}`
  const why = reasons.length === 0 || until !== '' ? '' : `; ${reasons.map(({ message }) => message).join('; ')}`
  return `task ${id} is ${status}${until}, not ${wanted}${error}${why}`
}
