/** All queues of one store. They are replayed at the start, or opened when first named. */
import { errorText } from '../error-text.js'
import { type EventStore, isDestroyed, type LogReader, LostEvents, type SnapshotStore, type StoreError } from '../store/index.js'
import { noKeys, revealingLog } from '../task-keys/index.js'
import { CheckedClock } from './time/checked-clock.js'
import type { Daybook, Loading, RefusedQueue } from './daybook-types.js'
import { openEngine } from './engine.js'
import type { EngineOptions } from './engine-options.js'
import { queueOf, streamOf, streamPrefix } from './state/replay.js'
import type { QueueEngine } from './types.js'

export interface DaybookOptions extends EngineOptions {
  readonly store: EventStore
  /** The snapshot store. Without one, every start replays the whole log. */
  readonly snapshots?: SnapshotStore
  /** Called repeatedly while a queue is being read. */
  readonly progress?: (loading: Loading) => void
  /** Called with each queue as soon as it is open, before anything is decided on it here. */
  readonly opened?: (engine: QueueEngine) => void
  /** The pause before a queue that could not be opened is tried again without a request, in milliseconds. Default 60,000. */
  readonly retryMs?: number
}

/** Starts replaying. `ready` resolves when it is done, and rejects if the store cannot be read. */
export const createDaybook = (options: DaybookOptions): Daybook => new Registry(options)

/** Interval at which new queues of other processes are looked for, in milliseconds. */
const lookMs = 3_000
const retryMsDefault = 60_000
/** The pause before a request that names a queue which could not be opened tries again, in milliseconds. */
const requestRetryMs = 1_000
/** After an attempt that took long, the pause is this many times as long, but no longer than without a request. An attempt may replay much of the log. */
const restFactor = 20
/** How many queues are opened at once from a store that others use, too. */
const openingsMax = 8
/** Number of queues without events that stay open for requests. Each takes about 170 KiB. */
const visitedMax = 1_000
/** How many of them are looked at, at most, when there are more. Some may be busy. */
const visitedLooks = 16

const stopping = (): Error => new Error('the server is stopping')

const isBusy = (engine: QueueEngine): boolean => {
  const { mailbox, appendsInFlight, waitingClaims } = engine.status()
  return mailbox > 0 || appendsInFlight > 0 || waitingClaims > 0
}

class Registry implements Daybook {
  readonly ready: Promise<void>
  readonly contentLog: LogReader
  readonly now = (): number => this.clock.now()
  private readonly engines = new Map<string, QueueEngine>()
  private readonly opening = new Map<string, Promise<QueueEngine>>()
  /** Queues without events that are open for requests alone, the oldest first. A request may give any name, so there may be no end to them. */
  private readonly visited = new Set<string>()
  private readonly unusable = new Map<string, StoreError>()
  /** By queue that could not be opened: when it was tried last, and how long that took. */
  private readonly tried = new Map<string, { readonly at: number; readonly tookMs: number }>()
  private readonly progress = new Map<string, Loading>()
  private readonly warn: (message: string) => void
  private readonly clock: CheckedClock
  private readonly retryMs: number
  private looks = 0
  private looking: NodeJS.Timeout | undefined
  private storeProblem: string | undefined
  private closing: Promise<void> | undefined

  constructor(private readonly options: DaybookOptions) {
    this.contentLog = revealingLog(options.store, options.keys ?? noKeys)
    this.warn = options.warn ?? (() => undefined)
    this.retryMs = options.retryMs ?? retryMsDefault
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
      if (found === undefined) throw new Error(this.unusable.get(name)?.message)
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
      return await this.openNow(name)
    } catch (error) {
      this.refuse(name, error)
      return undefined
    }
  }

  /** Notes when it was tried. What is known to be lost is looked for first: to replay everything before it takes long. */
  private async openNow(name: string): Promise<QueueEngine> {
    const at = performance.now()
    this.tried.set(name, { at, tookMs: 0 })
    try {
      const lost = this.unusable.get(name)
      if (lost instanceof LostEvents) for await (const _ of this.options.store.read(streamOf(name), { from: lost.from, limit: 1 })) break
      return await this.open(name)
    } catch (error) {
      const now = performance.now()
      this.tried.set(name, { at: now, tookMs: now - at })
      throw error
    }
  }

  private opened(name: string): Promise<QueueEngine> {
    if (this.closing !== undefined) return Promise.reject(stopping())
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
    return [...this.unusable].map(([queue, { message }]) => ({ queue, reason: message }))
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
    await this.severalAtOnce(streams.map(queueOf), (name) => this.openNow(name).then(() => undefined, (error: unknown) => this.refuse(name, error)))
  }

  /** Another machine's log is mostly waited for. That of a file here is read as fast as events are folded, and each queue on its way needs memory. */
  private async severalAtOnce(names: ReadonlyArray<string>, open: (name: string) => Promise<void>): Promise<void> {
    const left = [...names].reverse()
    const openNext = async (): Promise<void> => {
      try {
        for (let name = left.pop(); name !== undefined; name = left.pop()) await open(name)
      } catch (error) {
        left.length = 0
        throw error
      }
    }
    await Promise.all(Array.from({ length: this.options.store.isShared ? openingsMax : 1 }, openNext))
  }

  /** Records a queue of which events are gone. The other queues still work. */
  private refuse(name: string, error: unknown): void {
    if (!isDestroyed(error)) throw error
    const isKnown = this.unusable.get(name)?.message === error.message
    this.unusable.set(name, error)
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
          (error: unknown) => this.noteProblem(errorText(error)),
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
    await this.openEach(streams.map(queueOf))
  }

  private async openEach(names: ReadonlyArray<string>): Promise<void> {
    await this.severalAtOnce(names, async (name) => {
      if (this.closing !== undefined || this.engines.has(name) || this.isTooSoonFor(name, this.retryMs)) return
      await this.openNow(name).catch((error: unknown) => {
        if (isDestroyed(error)) return this.refuse(name, error)
        if (this.closing === undefined) this.warn(`queue ${name} cannot be opened: ${errorText(error)}`)
      })
    })
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
      this.unusable.set(name, error)
      this.warn(`queue ${name} goes on from memory, but may not start again: ${error.message}`)
    }
  }

  private isTooSoonFor(name: string, pauseMs: number): boolean {
    const last = this.tried.get(name)
    return last !== undefined && performance.now() - last.at < Math.max(pauseMs, Math.min(this.retryMs, last.tookMs * restFactor))
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
            // Nobody waits for the rest of a long log.
            if (this.closing !== undefined) throw stopping()
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
      this.tried.delete(name)
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
