/**
 * The options of a client, each with its effect, default and range. `undefined` is as if the option was not there, so that a variable of the
 * environment can be given as it is, also under `exactOptionalPropertyTypes`.
 */
import { DaybookError } from './errors.js'
import { inRange } from './range.js'
import { headerText, tokenText } from './transport/header-text.js'

export interface GatherOptions {
  /**
   * The largest number of single calls in one bulk request. More means less work per task, and a longer wait for the first of them. Default 500;
   * 1–1,000. 1 switches gathering off.
   */
  readonly itemsMax?: number | undefined
  /** The largest size of a bulk request in bytes. A larger task is sent alone. Default 3,000,000; below the server's body limit (4 MiB). */
  readonly bytesMax?: number | undefined
  /**
   * The largest number of bulk requests in flight: for enqueues, and again for outcomes. 1 leaves the server idle while this process works and vice
   * versa; many make small batches. Default 3; 1–16.
   */
  readonly inFlightMax?: number | undefined
  /** Minimum number of calls per request when waiting calls are split over several requests. Default 128; 1–1,000. */
  readonly splitMin?: number | undefined
  /** The largest number of unanswered single calls, which bounds memory. Further calls are refused (`overloaded`). Default 100,000. */
  readonly waitingMax?: number | undefined
}

export interface ClientOptions {
  /** Where the server is. Default `http://127.0.0.1:7878`. A path is kept as a prefix. */
  readonly url?: string | undefined
  /**
   * Several servers of one store, instead of `url`. Requests go to the first until it stops or cannot be reached, then to the next, and after the
   * last to the first again. What one server has acknowledged, another shows some milliseconds later. Default: `url` alone.
   */
  readonly urls?: ReadonlyArray<string> | undefined
  /** Sent as bearer token with every request, and shown nowhere. Printable ASCII characters without spaces: trim what you read from a file. Default, and if empty: none, for a server with `--auth off`. */
  readonly token?: string | undefined
  /** The queue that all methods use; see `DaybookClient.in` for others. Default `default`. */
  readonly queue?: string | undefined
  /** The name of the caller for the server's log (part of `User-Agent`), of printable ASCII characters. Default `daybook-client`. */
  readonly agentName?: string | undefined
  /**
   * How long one request may take without an answer, in milliseconds. The time that a claim waits is added. After that it fails as `unreachable`.
   * Default 30,000; 10–3,600,000.
   */
  readonly timeoutMs?: number | undefined
  /**
   * For how long a repeatable request is sent again while the server cannot be reached or is overloaded, in milliseconds from the call. A gathered
   * call may take up to twice as long. Default 30,000; 0 never repeats. Claims are never repeated.
   */
  readonly retryForMs?: number | undefined
  /** The largest number of connections for calls. Further calls wait for a free one. Default 32; 1–1,024. */
  readonly connectionsMax?: number | undefined
  /** The largest number of claims that wait for tasks at a time. Each has its own connection. Default 256; 1–10,000. */
  readonly waitingClaimsMax?: number | undefined
  /** The largest size of an answer, which bounds memory. A larger one is refused (`unexpected-answer`). Streams may be longer. Default 268,435,456 bytes. */
  readonly answerBytesMax?: number | undefined
  /** How concurrent single calls become bulk requests. */
  readonly gather?: GatherOptions | undefined
}

/** Options of a single call. A gathered call has none of these: with any of them, the call makes a request of its own. */
export interface CallOptions {
  /** Cancels the call, which then fails as `aborted`. The server may have done the work all the same. */
  readonly signal?: AbortSignal | undefined
  /** As in {@link ClientOptions}. */
  readonly timeoutMs?: number | undefined
  /** As in {@link ClientOptions}. */
  readonly retryForMs?: number | undefined
  /** The same key and body within 24 hours gets the same answer. It makes any POST safe to repeat. A key has printable ASCII characters only. */
  readonly idempotencyKey?: string | undefined
  /** Recorded with the events that the call causes. Printable ASCII characters only. Default: made by the server. */
  readonly correlationId?: string | undefined
}

/** Options with their defaults. `Required` alone would leave the `undefined` that callers may give. */
export type WithDefaults<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> }

export interface Configured extends WithDefaults<Omit<ClientOptions, 'token' | 'gather'>> {
  readonly token: string | undefined
  readonly gather: WithDefaults<GatherOptions>
}

/**
 * @throws RangeError for an option out of its range.
 * @throws DaybookError `invalid` for a token or a name with characters that cannot be sent, and for an address that is none.
 */
export const configure = (options: ClientOptions): Configured => {
  const { gather = {} } = options
  return {
    url: addressOf('url', options.url ?? 'http://127.0.0.1:7878'),
    urls: (options.urls ?? []).map((url) => addressOf('urls', url)),
    token: options.token === undefined || options.token === '' ? undefined : tokenText(options.token),
    queue: options.queue ?? 'default',
    agentName: headerText('agentName', options.agentName ?? 'daybook-client'),
    timeoutMs: inRange('timeoutMs', options.timeoutMs ?? 30_000, 10, 3_600_000),
    retryForMs: inRange('retryForMs', options.retryForMs ?? 30_000, 0, 86_400_000),
    connectionsMax: inRange('connectionsMax', options.connectionsMax ?? 32, 1, 1_024),
    waitingClaimsMax: inRange('waitingClaimsMax', options.waitingClaimsMax ?? 256, 1, 10_000),
    answerBytesMax: inRange('answerBytesMax', options.answerBytesMax ?? 268_435_456, 1_024, Number.MAX_SAFE_INTEGER),
    gather: {
      itemsMax: inRange('gather.itemsMax', gather.itemsMax ?? 500, 1, 1_000),
      bytesMax: inRange('gather.bytesMax', gather.bytesMax ?? 3_000_000, 1, Number.MAX_SAFE_INTEGER),
      inFlightMax: inRange('gather.inFlightMax', gather.inFlightMax ?? 3, 1, 16),
      splitMin: inRange('gather.splitMin', gather.splitMin ?? 128, 1, 1_000),
      waitingMax: inRange('gather.waitingMax', gather.waitingMax ?? 100_000, 1, Number.MAX_SAFE_INTEGER),
    },
  }
}

const addressOf = (name: string, text: string): string => {
  if (/^https?:\/\//i.test(text) && URL.canParse(text)) return text
  throw new DaybookError('invalid', `${name} must begin with http:// or https://, such as http://127.0.0.1:7878, and is ${JSON.stringify(text)}`, { unsent: true })
}
