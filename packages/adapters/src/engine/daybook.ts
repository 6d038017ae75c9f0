/** All queues of one store, replayed at start and opened when first named. */
import type { EventStore, SnapshotStore } from '../store/index.js'
import type { Daybook, Loading } from './daybook-types.js'
import { openEngine } from './engine.js'
import type { EngineOptions } from './engine-options.js'
import { streamOf, streamPrefix } from './replay.js'
import type { QueueEngine } from './types.js'

export interface DaybookOptions extends EngineOptions {
  readonly store: EventStore
  /** Where snapshots are kept; without, every start replays the whole log. */
  readonly snapshots?: SnapshotStore
}

/** Starts replaying; `ready` says when it is done, and rejects when the store cannot be read. */
export const createDaybook = (options: DaybookOptions): Daybook => new Registry(options)

class Registry implements Daybook {
  readonly ready: Promise<void>
  private readonly engines = new Map<string, QueueEngine>()
  private readonly opening = new Map<string, Promise<QueueEngine>>()
  private readonly progress = new Map<string, Loading>()
  private readonly warn: (message: string) => void
  private closing: Promise<void> | undefined

  constructor(private readonly options: DaybookOptions) {
    this.warn = options.warn ?? (() => undefined)
    this.ready = this.openAll()
    // Whoever awaits `ready` is told; nobody awaiting it must not end the process.
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

  open(name: string): Promise<QueueEngine> {
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
    return [...this.engines.values()].filter((engine) => engine.status().revision >= 0)
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
    for (const stream of streams) await this.open(stream.slice(streamOf('').length))
  }

  private async openQueue(name: string): Promise<QueueEngine> {
    const { store, snapshots } = this.options
    try {
      const engine = await openEngine(
        store,
        name,
        snapshots,
        {
          progress: (events, of) => this.progress.set(name, { queue: name, events, of }),
          skipped: (snapshot, reason) => this.warn(`snapshot ${snapshot} is not used: ${reason}`),
        },
        this.options,
      )
      this.engines.set(name, engine)
      return engine
    } finally {
      this.progress.delete(name)
    }
  }

  private async shutDown(): Promise<void> {
    await Promise.allSettled([this.ready, ...this.opening.values()])
    await Promise.all([...this.engines.values()].map((engine) => engine.close()))
    await this.options.store.close()
  }
}
