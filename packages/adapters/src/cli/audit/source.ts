/** The source of an audit: a running server, or a log without one. */
import type { Difference, DiffOptions, EventFilter, HistoryEvent, Moment, QueueMoment, TaskFilter } from '../../client/index.js'

export interface AuditSource {
  readonly queue: string
  /** The state at a moment. Without a moment: now, or at the last event of a log without a server. */
  readonly state: (filter: TaskFilter, moment: Moment | undefined) => Promise<QueueMoment>
  readonly diff: (between: DiffOptions) => Promise<Difference>
  /** The last revision of the moment; -1 if the moment is before the first event. */
  readonly revision: (moment: Moment | undefined) => Promise<number>
  /** The ending at this revision. It is requested while the lines are read. */
  readonly ending: (revision: number) => Promise<Ending>
  /** The history of a task, oldest first. */
  readonly history: (id: string, moment: Moment) => Promise<ReadonlyArray<HistoryEvent>>
  /** Events up to the moment, or to the end. */
  readonly events: (filter: EventFilter, moment: Moment | undefined) => AsyncIterable<HistoryEvent>
  /** Events up to the moment, as lines of an export. `isWanted` is called with the type and the data of each event; by default all are included. */
  readonly lines: (moment: Moment, isWanted: IsWanted | undefined) => AsyncIterable<EventLines>
  readonly close: () => Promise<void>
}

/** The state at the end of an export, for its manifest. */
export interface Ending {
  readonly settings: unknown
  /** Number of tasks by status. */
  readonly byStatus: QueueMoment['counts']['byStatus']
}

export type IsWanted = (type: string, data: Readonly<Record<string, unknown>>) => boolean

/** Consecutive events, each as a line of JSON in UTF-8. */
export interface EventLines {
  readonly bytes: Buffer
  readonly events: number
  /** The revision up to which the log has been read. */
  readonly revision: number
}
