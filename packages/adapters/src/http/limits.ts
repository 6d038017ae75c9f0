/** All limits of the HTTP server. Each is the largest allowed value. */
export interface HttpLimits {
  /** Size of a request's body in bytes. */
  readonly bodyBytesMax: number
  /** Size of one task's content, of a result and of a checkpoint, as JSON text, in bytes. */
  readonly taskBytesMax: number
  /** Number of tasks in one enqueue or import, or of outcomes in one report. */
  readonly itemsMax: number
  /** Seconds that a claim may wait for tasks. */
  readonly claimWaitSecondsMax: number
  /** How long `?atLeast=` waits for a revision, in milliseconds. */
  readonly atLeastWaitMs: number
  /** How long a request may take to arrive, with headers and body, in milliseconds. */
  readonly requestTimeoutMs: number
  /**
   * How long a client may read nothing of its answer, and a new connection have no request, in milliseconds. Up to twice as long if the operating system
   * took a part of the answer before. The time in which the server works on a request does not count.
   */
  readonly stalledMs: number
  /** How long an idle connection is kept after an answer, in milliseconds. */
  readonly keepAliveMs: number
  /** Number of tasks, dead letters or events on one page. */
  readonly pageMax: number
  /** Size of a page's contents in bytes. A page of large tasks ends early, and its cursor continues from there. */
  readonly pageBytesMax: number
  /** Number of events that may be read to fill one page of a filtered log. */
  readonly scanEventsMax: number
  /** Number of streams of logs at the same time. Each holds a few pages of up to 4 MiB while its client does not read. */
  readonly streamsMax: number
  /** Bytes of large answers that clients have not read yet. */
  readonly unreadBytesMax: number
  /** Answers kept for `Idempotency-Key`: number, bytes, and time. */
  readonly idempotencyEntriesMax: number
  readonly idempotencyBytesMax: number
  readonly idempotencyMs: number
}

export const httpLimitsDefault: HttpLimits = {
  bodyBytesMax: 4 * 2 ** 20,
  taskBytesMax: 256 * 1024,
  itemsMax: 1_000,
  claimWaitSecondsMax: 60,
  atLeastWaitMs: 5_000,
  requestTimeoutMs: 30_000,
  stalledMs: 90_000,
  keepAliveMs: 72_000,
  pageMax: 1_000,
  pageBytesMax: 8 * 2 ** 20,
  scanEventsMax: 100_000,
  streamsMax: 32,
  unreadBytesMax: 256 * 2 ** 20,
  idempotencyEntriesMax: 10_000,
  idempotencyBytesMax: 64 * 2 ** 20,
  idempotencyMs: 24 * 3_600_000,
}
