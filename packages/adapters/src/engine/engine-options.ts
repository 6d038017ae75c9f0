/** How an engine is set up. */
import { SettingsPatch, validate } from '@daybook/core'
import { isRight } from 'fp-ts/lib/Either.js'
import type { ClockOptions } from './checked-clock.js'
import { leaseGraceMsDefault } from './lease-grace.js'

export interface EngineOptions extends ClockOptions {
  /** Commands that may wait to be decided; beyond, they are refused with `overloaded`. Default 100,000. */
  readonly mailboxMax?: number
  /**
   * Events of one append, unless a single command has more. Default 1,000: small enough that the next is decided
   * while one is written, large enough that the write is worth its fsync.
   */
  readonly batchEventsMax?: number
  /** Contents kept in memory for claims, in characters. Default 134,217,728. */
  readonly contentCacheMax?: number
  /** Events between two snapshots. Default: as many as it pays to wait for, see `snapshot-policy.ts`. */
  readonly snapshotEvery?: number
  /** Settings that a new queue begins with, where they differ from the defaults: its first event. */
  readonly defaults?: SettingsPatch
  /** By queue: the revision up to which events that cannot be read are passed over, and decided on all the same. Default: none. */
  readonly pastUnreadable?: Readonly<Record<string, number>>
  /** How long leases that could have ended go on after a start or a failed append, for reports that could not be handed in, in milliseconds. Default 10,000. */
  readonly leaseGraceMs?: number
  readonly random?: () => number
  readonly warn?: (message: string) => void
}

export type ResolvedOptions = Required<Omit<EngineOptions, 'defaults' | 'snapshotEvery' | keyof ClockOptions>> & {
  readonly snapshotEvery: number | undefined
  readonly defaults: SettingsPatch | undefined
}

/** @throws Error for settings that no queue can have. */
export const withDefaults = (options: EngineOptions): ResolvedOptions => ({
  mailboxMax: options.mailboxMax ?? 100_000,
  batchEventsMax: options.batchEventsMax ?? 1_000,
  contentCacheMax: options.contentCacheMax ?? 2 ** 27,
  snapshotEvery: options.snapshotEvery,
  defaults: options.defaults === undefined ? undefined : checkedSettings(options.defaults),
  pastUnreadable: options.pastUnreadable ?? {},
  leaseGraceMs: options.leaseGraceMs ?? leaseGraceMsDefault,
  random: options.random ?? Math.random,
  warn: options.warn ?? (() => undefined),
})

const checkedSettings = (patch: SettingsPatch): SettingsPatch => {
  const checked = validate(SettingsPatch, 'defaults')(patch)
  if (isRight(checked)) return checked.right
  throw new Error(checked.left.map(({ path, message }) => `${path} ${message}`).join('; '))
}
