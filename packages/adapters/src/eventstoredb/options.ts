export interface EventStoreDbOptions {
  /** `esdb://…` or `esdb+discover://…`, as for EventStoreDB's clients, or the same with `kurrentdb`, as for KurrentDB's. */
  readonly url: string
  /** The largest size of one append in bytes. Default 943,718: a server up to 25.0 accepts 1 MiB by its own count, which is a little higher. */
  readonly appendBytesMax?: number
  /** Time limits in milliseconds: for a connection, for an append, for the silence of one call, and for that of a read with all its tries. */
  readonly connectMs?: number
  readonly appendMs?: number
  readonly silenceMs?: number
  readonly readMs?: number
  /** How often a silent subscription is compared with its stream, in milliseconds. Default 2,000. */
  readonly livenessMs?: number
  /** Number of events in one read. Default 1,000. */
  readonly pageEvents?: number
  /** Returns a number in [0, 1), for the jitter of waiting times. */
  readonly random?: () => number
}

export const withDefaults = (options: EventStoreDbOptions): Required<EventStoreDbOptions> => ({
  appendBytesMax: Math.floor(0.9 * 2 ** 20),
  connectMs: 5_000,
  // The server gives up after two to three seconds, and reports that.
  appendMs: 5_000,
  silenceMs: 5_000,
  // Longer than a cluster mostly takes to elect another leader.
  readMs: 10_000,
  livenessMs: 2_000,
  pageEvents: 1_000,
  random: Math.random,
  ...options,
})
