/** Schedules: recurring tasks. */
import type { CallOptions } from './options.js'
import type { NewTask } from './tasks.js'

/** What a schedule enqueues: a task without id, key, dependencies and times. */
export type ScheduledTask = Omit<NewTask, 'id' | 'idempotencyKey' | 'dependencies' | 'availableAt' | 'deadlineAt' | 'deduplicate' | 'concurrencyLimit'>

export interface ScheduleFields {
  /** Five fields (minute, hour, day, month, weekday), or six with seconds first. Give either `cron` or `every`. */
  readonly cron?: string
  /** Seconds between two runs. */
  readonly every?: number
  /** In which `cron` is read: a name of the IANA list. Default UTC. */
  readonly timeZone?: string
  /** What becomes of runs that were due while no server was there: none, the last one (default), or all of them. */
  readonly missed?: 'skip' | 'once' | 'all'
  /** What becomes of a run while the one before is unfinished: it begins as well (default), is left out, or waits, one at most. */
  readonly overlap?: 'allow' | 'skip' | 'queue'
  readonly paused?: boolean
}

export interface PastRun {
  readonly dueAt: string
  /** When it was decided. */
  readonly at: string
  /** The task that it enqueued. */
  readonly task?: string
  readonly skipped?: 'missed' | 'overlap' | 'duplicate'
  /** All instants from this one on to `dueAt` were skipped. */
  readonly since?: string
  /** It begins when the one before has ended. */
  readonly waits?: true
}

export interface ScheduleView extends Required<Omit<ScheduleFields, 'cron' | 'every'>> {
  readonly name: string
  readonly cron?: string
  readonly every?: number
  readonly task: ScheduledTask
  /** The next runs, earliest first: up to five, or one in a list. None while it is paused. */
  readonly next: ReadonlyArray<string>
  /** The last five, newest first. */
  readonly last: ReadonlyArray<PastRun>
}

export interface Schedules {
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<ScheduleView>>
  readonly get: (name: string, options?: CallOptions) => Promise<ScheduleView>
  /** Refused with `conflict` if there is another one of this name. */
  readonly create: (name: string, schedule: ScheduleFields & { readonly task: ScheduledTask }, options?: CallOptions) => Promise<ScheduleView>
  /** What is not given stays as it is; a `task` is replaced as a whole. */
  readonly change: (name: string, patch: ScheduleFields & { readonly task?: ScheduledTask }, options?: CallOptions) => Promise<ScheduleView>
  /** The tasks that it enqueued stay. */
  readonly remove: (name: string, options?: CallOptions) => Promise<void>
}
