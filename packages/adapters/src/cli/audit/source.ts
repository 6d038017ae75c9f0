/** Where an audit reads: a running server, or a log without one. */
import type { Difference, DiffOptions, EventFilter, HistoryEvent, Moment, QueueMoment, TaskFilter } from '../../client/index.js'

export interface AuditSource {
  readonly queue: string
  /** Without a moment: as of now, or of the last event of a log without a server. */
  readonly state: (filter: TaskFilter, moment: Moment | undefined) => Promise<QueueMoment>
  readonly diff: (between: DiffOptions) => Promise<Difference>
  /** The last event of the moment; -1 if it is before the first one. */
  readonly revision: (moment: Moment | undefined) => Promise<number>
  /** As of this revision. It is asked for while the lines are read. */
  readonly ending: (revision: number) => Promise<Ending>
  /** Of a task, oldest first. */
  readonly history: (id: string, moment: Moment) => Promise<ReadonlyArray<HistoryEvent>>
  /** Up to the moment, or to the end. */
  readonly events: (filter: EventFilter, moment: Moment | undefined) => AsyncIterable<HistoryEvent>
  /** The same up to the moment, as the lines of an export. `isWanted` is asked with the data of each event; without it, all are wanted. */
  readonly lines: (moment: Moment, isWanted: IsWanted | undefined) => AsyncIterable<EventLines>
  readonly close: () => Promise<void>
}

/** What the manifest of an export tells of its end. */
export interface Ending {
  readonly settings: unknown
  /** Number of tasks by status. */
  readonly byStatus: QueueMoment['counts']['byStatus']
}

export type IsWanted = (data: Readonly<Record<string, unknown>>) => boolean

/** Some events in a row, each as a line of JSON in UTF-8. */
export interface EventLines {
  readonly bytes: Buffer
  readonly events: number
  /** The revision up to which the log has been read. */
  readonly revision: number
}
