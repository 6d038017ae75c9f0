/** All queues of one store. They are replayed at the start, or opened when first named. */
import { type EventStore, isDestroyed, type LogReader, type SnapshotStore } from '../store/index.js'
import { noKeys, revealingLog } from '../task-keys/index.js'
import { CheckedClock } from './time/checked-clock.js'
import type { Daybook, Loading, RefusedQueue } from './daybook-types.js'
import { openEngine } from './engine.js'
import type { EngineOptions } from './engine-options.js'
import { describe } from './refusals.js'
import { streamOf, streamPrefix } from './state/replay.js'
import type { QueueEngine } from './types.js'

export interface DaybookOptions extends EngineOptions {
  readonly store: EventStore
  /** The snapshot store. Without one, every start replays the whole log. */
  readonly snapshots?: SnapshotStore
  /** Called repeatedly while a queue is being read. */
  readonly progress?: (loading: Loading) => void
  /** Called with each queue as soon as it is open, before anything is decided on it here. */
  readonly opened?: (engine: QueueEngine) => void
}

/** Starts replaying. `ready` resolves when it is done, and rejects if the store cannot be read. */
export const createDaybook = (options: DaybookOptions): Daybook => new Registry(options)

/** Interval at which new queues of other processes are looked for, in milliseconds. */
const lookMs = 3_000
/** Pause before a queue that could not be opened is tried again, in milliseconds. */
const retryMs = 60_000
/** The same for a request that names the queue. An attempt may read much of the log. */
const requestRetryMs = 1_000
/** Number of queues without events that stay open for requests. Each takes about 170 KiB. */
const visitedMax = 1_000
/** How many of them are looked at, at most, when there are more. Some may be busy. */
const visitedLooks = 16

const isBusy = (engine: QueueEngine): boolean => {
  const { mailbox, appendsInFlight, waitingClaims } = engine.status()
  return mailbox > 0 || appendsInFlight > 0 || waitingClaims > 0
}

class Registry implements Daybook {
  readonly ready: Promise<void>
  readonly contentLog: LogReader
  private readonly engines = new Map<string, QueueEngine>()
  private readonly opening = new Map<string, Promise<QueueEngine>>()
  /** Queues without events that are open for requests alone, the oldest first. A request may give any name, so there may be no end to them. */
  private readonly visited = new Set<string>()
  private readonly unusable = new Map<string, string>()
  /** By queue that could not be opened: the time of the last automatic attempt. */
  private readonly triedAt = new Map<string, number>()
  private readonly progress = new Map<string, Loading>()
  private readonly warn: (message: string) => void
  private readonly clock: CheckedClock
  private looks = 0
  private looking: NodeJS.Timeout | undefined
  private storeProblem: string | undefined
  private closing: Promise<void> | undefined

  constructor(private readonly options: DaybookOptions) {
    this.contentLog = revealingLog(options.store, options.keys ?? noKeys)
    this.warn = options.warn ?? (() => undefined)
    this.clock = new CheckedClock(options, () => options.store.time?.())
    this.ready = this.openAll()
    this.ready.then(() => this.lookAround(), () => undefined)
    // The rejection must not end a process that does not await `ready`.
    this.ready.catch(() => undefined)
  }

  get log(): EventStore {
    return this.options.store
  }

  get store(): string {
    return this.options.store.name
  }

  queue(name: string): QueueEngine | undefined {
    const engine = this.engines.get(name)
    return engine !== undefined && engine.status().revision >= 0 ? engine : undefined
  }

  async find(name: string): Promise<QueueEngine | undefined> {
    const known = this.queue(name)
    if (known !== undefined) return known
    if (this.unusable.has(name)) return this.tryAgain(name)
    const { store } = this.options
    return store.isShared && (await store.head(streamOf(name))) >= 0 ? this.open(name) : undefined
  }

  open(name: string): Promise<QueueEngine> {
    this.visited.delete(name)
    return this.opened(name)
  }

  async visit(name: string): Promise<QueueEngine> {
    if (!this.engines.has(name) && this.unusable.has(name)) {
      const found = await this.tryAgain(name)
      if (found === undefined) throw new Error(this.unusable.get(name))
      return found
    }
    const isNew = !this.engines.has(name) && !this.opening.has(name)
    if (isNew) this.visited.add(name)
    const engine = await this.opened(name)
    if (isNew) this.closeVisited()
    return engine
  }

  /** Opens, for a request, a queue that could not be opened. `undefined` if that fails again, or was tried just now. */
  private async tryAgain(name: string): Promise<QueueEngine | undefined> {
    if (this.isTooSoonFor(name, requestRetryMs) && !this.opening.has(name)) return undefined
    try {
      return await this.open(name)
    } catch (error) {
      this.refuse(name, error)
      return undefined
    }
  }

  private opened(name: string): Promise<QueueEngine> {
    if (this.closing !== undefined) return Promise.reject(new Error('the server is stopping'))
    const known = this.engines.get(name)
    if (known !== undefined) return Promise.resolve(known)
    const under = this.opening.get(name)
    if (under !== undefined) return under
    const opening = this.openQueue(name).finally(() => this.opening.delete(name))
    this.opening.set(name, opening)
    return opening
  }

  queues(): ReadonlyArray<QueueEngine> {
    return [...this.engines.values()].filter((engine) => {
      const { revision, deleted } = engine.status()
      return revision >= 0 && deleted === null
    })
  }

  problem(): string | undefined {
    return this.storeProblem
  }

  refused(): ReadonlyArray<RefusedQueue> {
    return [...this.unusable].map(([queue, reason]) => ({ queue, reason }))
  }

  loading(): ReadonlyArray<Loading> {
    return [...this.progress.values()]
  }

  close(): Promise<void> {
    this.closing ??= this.shutDown()
    return this.closing
  }

  private async openAll(): Promise<void> {
    const streams = await this.options.store.streams(streamPrefix)
    for (const stream of streams) {
      const name = stream.slice(streamOf('').length)
      await this.open(name).catch((error: unknown) => this.refuse(name, error))
    }
  }

  /** Records a queue of which events are gone. The other queues still work. */
  private refuse(name: string, error: unknown): void {
    if (!isDestroyed(error)) throw error
    const isKnown = this.unusable.get(name) === error.message
    this.unusable.set(name, error.message)
    this.triedAt.set(name, performance.now())
    if (!isKnown) this.warn(`queue ${name} is not opened: ${error.message}`)
  }

  /**
   * Opens queues that other processes created, and queues whose events were brought back: their timers must run even if nobody here asks for them. Ends
   * when there can be neither.
   */
  private lookAround(): void {
    const { isShared } = this.options.store
    if (this.closing !== undefined || (!isShared && this.unusable.size === 0)) return
    this.looking = setTimeout(() => {
      Promise.all(isShared ? [this.openNew(), this.lookIntoOne()] : [this.openEach([...this.unusable.keys()])])
        .then(
          () => (this.storeProblem = undefined),
          (error: unknown) => this.noteProblem(describe(error)),
        )
        .finally(() => this.lookAround())
    }, lookMs)
    this.looking.unref()
  }

  private noteProblem(reason: string): void {
    if (this.closing !== undefined || this.storeProblem === reason) return
    this.storeProblem = reason
    this.warn(`the store cannot be looked at: ${reason}`)
  }

  private async openNew(): Promise<void> {
    const streams = await this.options.store.streams(streamPrefix)
    await this.openEach(streams.map((stream) => stream.slice(streamOf('').length)))
  }

  private async openEach(names: ReadonlyArray<string>): Promise<void> {
    for (const name of names) {
      if (this.closing !== undefined) return
      if (this.engines.has(name) || this.isTooSoonFor(name, retryMs)) continue
      await this.open(name).catch((error: unknown) => {
        if (isDestroyed(error)) return this.refuse(name, error)
        this.triedAt.set(name, performance.now())
        this.warn(`queue ${name} cannot be opened: ${describe(error)}`)
      })
    }
  }

  /** Checks one open queue per call: an administrator may have truncated events that a start needs, without anybody here reading them. */
  private async lookIntoOne(): Promise<void> {
    const open = this.queues()
    if (open.length === 0) return
    const { name } = open[this.looks++ % open.length] as QueueEngine
    try {
      for await (const _ of this.options.store.read(streamOf(name), { from: 0, limit: 1 })) break
      this.unusable.delete(name)
    } catch (error) {
      if (!isDestroyed(error)) throw error
      if (this.unusable.has(name)) return
      this.unusable.set(name, error.message)
      this.warn(`queue ${name} goes on from memory, but may not start again: ${error.message}`)
    }
  }

  private isTooSoonFor(name: string, pauseMs: number): boolean {
    const triedAt = this.triedAt.get(name)
    return triedAt !== undefined && performance.now() - triedAt < pauseMs
  }

  private async openQueue(name: string): Promise<QueueEngine> {
    const { store, snapshots } = this.options
    try {
      const engine = await openEngine(
        store,
        name,
        snapshots,
        {
          progress: (events, of) => {
            const loading = { queue: name, events, of }
            this.progress.set(name, loading)
            this.options.progress?.(loading)
          },
          skipped: (snapshot, reason) => this.warn(`snapshot ${snapshot} is not used: ${reason}`),
        },
        this.options,
        this.clock,
      )
      this.options.opened?.(engine)
      this.engines.set(name, engine)
      this.unusable.delete(name)
      this.triedAt.delete(name)
      return engine
    } finally {
      this.progress.delete(name)
    }
  }

  /** A request that comes to a queue just as it is closed is told to try again. */
  private closeVisited(): void {
    let looks = 0
    for (const name of this.visited) {
      if (this.visited.size <= visitedMax || looks++ === visitedLooks) return
      this.visited.delete(name)
      const engine = this.engines.get(name)
      if (this.opening.has(name) || (engine !== undefined && isBusy(engine))) this.visited.add(name)
      else if (engine !== undefined && engine.status().revision < 0) {
        this.engines.delete(name)
        void engine.close()
      }
    }
  }

  private async shutDown(): Promise<void> {
    clearTimeout(this.looking)
    await Promise.allSettled([this.ready, ...this.opening.values()])
    await Promise.all([...this.engines.values()].map((engine) => engine.close()))
    await this.options.store.close()
  }
}
