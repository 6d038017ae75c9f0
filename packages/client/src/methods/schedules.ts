/** Schedules: recurring tasks. */
import type { CallOptions, WithDefaults } from '../options.js'
import type { NewTask } from './tasks.js'

/** What a schedule enqueues: a task without id, key, dependencies and times. */
export type ScheduledTask = Omit<NewTask, 'id' | 'idempotencyKey' | 'dependencies' | 'availableAt' | 'deadlineAt' | 'deduplicate' | 'concurrencyLimit' | 'batchId'>

export interface ScheduleFields {
  /** Five fields (minute, hour, day, month, weekday), or six with seconds first. Either `cron` or `every` is required. */
  readonly cron?: string | undefined
  /** Seconds between two runs. */
  readonly every?: number | undefined
  /** The time zone in which `cron` is read: a name of the IANA list. Default UTC. */
  readonly timeZone?: string | undefined
  /** Which runs that were due while no server was running are made up for: none, the last one (default), or all. */
  readonly missed?: 'skip' | 'once' | 'all' | undefined
  /** What happens to a run that is due while the previous one is unfinished: it starts (default), is left out, or waits (at most one). */
  readonly overlap?: 'allow' | 'skip' | 'queue' | undefined
  readonly paused?: boolean | undefined
}

export interface PastRun {
  readonly dueAt: string
  /** When the outcome was decided. */
  readonly at: string
  /** Id of the task that was enqueued. */
  readonly task?: string
  readonly skipped?: 'missed' | 'overlap' | 'duplicate'
  /** All instants from this one to `dueAt` were skipped. */
  readonly since?: string
  /** The run begins when the previous one has ended. */
  readonly waits?: true
}

export interface ScheduleView extends WithDefaults<Omit<ScheduleFields, 'cron' | 'every'>> {
  readonly name: string
  readonly cron?: string
  readonly every?: number
  readonly task: ScheduledTask
  /** The next runs, earliest first: up to five, or one in a list of schedules. Empty while the schedule is paused. */
  readonly next: ReadonlyArray<string>
  /** The last five runs, newest first. */
  readonly last: ReadonlyArray<PastRun>
}

export interface Schedules {
  readonly list: (options?: CallOptions) => Promise<ReadonlyArray<ScheduleView>>
  readonly get: (name: string, options?: CallOptions) => Promise<ScheduleView>
  /** Creates a schedule. Rejects with `conflict` if a different schedule has this name. */
  readonly create: (name: string, schedule: ScheduleFields & { readonly task: ScheduledTask }, options?: CallOptions) => Promise<ScheduleView>
  /** Changes a schedule. Fields that are not given stay as they are; a `task` is replaced as a whole. */
  readonly change: (name: string, patch: ScheduleFields & { readonly task?: ScheduledTask | undefined }, options?: CallOptions) => Promise<ScheduleView>
  /** Removes a schedule. The tasks that it enqueued stay. */
  readonly remove: (name: string, options?: CallOptions) => Promise<void>
}
