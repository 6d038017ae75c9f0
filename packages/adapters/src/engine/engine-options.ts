/** The options of an engine. */
import { SettingsPatch, validate } from '@daybook/core'
import { isRight } from 'fp-ts/lib/Either.js'
import type { ClockOptions } from './time/checked-clock.js'
import type { KeyStore } from '../task-keys/index.js'
import { leaseGraceMsDefault } from './time/lease-grace.js'

export interface EngineOptions extends ClockOptions {
  /** The largest number of commands that wait to be decided. Further ones are refused as `overloaded`. Default 100,000. */
  readonly mailboxMax?: number
  /**
   * The largest number of events in one append, unless a single command has more. Default 1,000: small enough to decide the next batch while one is
   * written, and large enough for the cost of an fsync.
   */
  readonly batchEventsMax?: number
  /** The largest size of contents kept in memory for claims, in bytes. Default 67,108,864. */
  readonly contentCacheMax?: number
  /** Number of events between two snapshots. Default: see `snapshot-policy.ts`. */
  readonly snapshotEvery?: number
  /** Settings of new queues that differ from the defaults. They are the queue's first event. */
  readonly defaults?: SettingsPatch
  /** By queue: the revision up to which unreadable events are skipped, so that the queue is not read-only. Default: none. */
  readonly pastUnreadable?: Readonly<Record<string, number>>
  /** Grace period after a start or a failed append, in milliseconds. No lease ends during it, so that agents can repeat their reports. Default 10,000. */
  readonly leaseGraceMs?: number
  /** Whether this engine raises and clears alerts. Default false, because a program that embeds a queue may not want their events. A server sets it. */
  readonly alerts?: boolean
  /** Keys of tasks in erasable queues. Without it, no queue can be made erasable. It is closed by whoever opened it. */
  readonly keys?: KeyStore
  readonly random?: () => number
  readonly warn?: (message: string) => void
}

export type ResolvedOptions = Required<Omit<EngineOptions, 'defaults' | 'snapshotEvery' | 'keys' | keyof ClockOptions>> & {
  readonly keys: KeyStore | undefined
  readonly snapshotEvery: number | undefined
  readonly defaults: SettingsPatch | undefined
}

/** @throws Error for invalid settings. */
export const withDefaults = (options: EngineOptions): ResolvedOptions => ({
  mailboxMax: options.mailboxMax ?? 100_000,
  batchEventsMax: options.batchEventsMax ?? 1_000,
  contentCacheMax: options.contentCacheMax ?? 2 ** 26,
  snapshotEvery: options.snapshotEvery,
  defaults: options.defaults === undefined ? undefined : checkedSettings(options.defaults),
  pastUnreadable: options.pastUnreadable ?? {},
  leaseGraceMs: options.leaseGraceMs ?? leaseGraceMsDefault,
  alerts: options.alerts ?? false,
  keys: options.keys,
  random: options.random ?? Math.random,
  warn: options.warn ?? (() => undefined),
})

const checkedSettings = (patch: SettingsPatch): SettingsPatch => {
  const checked = validate(SettingsPatch, 'defaults')(patch)
  if (isRight(checked)) return checked.right
  throw new Error(checked.left.map(({ path, message }) => `${path} ${message}`).join('; '))
}
