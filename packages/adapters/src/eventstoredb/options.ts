export interface EventStoreDbOptions {
  /** `esdb://…` or `esdb+discover://…`, as EventStoreDB's clients take it. */
  readonly url: string
  /** Bytes of one append. Default 943,718: a server up to 25.0 takes 1 MiB by its own count, which is a little higher. */
  readonly appendBytesMax?: number
  /** How long a connection may take, an append, and the silence of a read, in milliseconds. */
  readonly connectMs?: number
  readonly appendMs?: number
  readonly silenceMs?: number
  /** How often a silent subscription is compared with its stream. Default 2,000 ms. */
  readonly livenessMs?: number
  /** Events of one read. Default 1,000. */
  readonly pageEvents?: number
  /** For the jitter of waiting times, from 0 to 1. */
  readonly random?: () => number
}

export const withDefaults = (options: EventStoreDbOptions): Required<EventStoreDbOptions> => ({
  appendBytesMax: Math.floor(0.9 * 2 ** 20),
  connectMs: 5_000,
  // The server gives up after two to three seconds, and says so.
  appendMs: 5_000,
  silenceMs: 5_000,
  livenessMs: 2_000,
  pageEvents: 1_000,
  random: Math.random,
  ...options,
})
