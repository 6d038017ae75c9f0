import type { SettingsPatch } from '@daybook/core'
import type { LadderLimits } from '../files/index.js'
import type { WebhookOptions } from '../webhooks/index.js'
import type { RequestLogChoice } from '../http/request-log/request-log.js'
import type { LauncherChoice } from './launcher-choice.js'

/** The options of a server, after all checks. */
export interface ServeOptions {
  readonly host: string
  /** 0 picks a free port. */
  readonly port: number
  /** The folder of tokens, snapshots and, unless `store` names another place, the log. */
  readonly dataDir: string
  readonly store: StoreChoice
  /** `off` is accepted only on loopback addresses. */
  readonly auth: 'tokens' | 'off'
  /** The admin token, if the user chose one. Otherwise it is made at the first start. */
  readonly token?: string
  /** Folder of the queue files (LK-04). Default: no queue files. */
  readonly queueFilesDir?: string
  /** By queue: the revision up to which unreadable events are skipped. Default: none. A queue with an unreadable event is read-only. */
  readonly pastUnreadable?: Readonly<Record<string, number>>
  /** The limits on older snapshots that are kept of each queue, for queries about the past. Default: 200, and 1 GiB. */
  readonly pastSnapshots?: LadderLimits
  /** How far the clock may jump ahead before commands are refused, in milliseconds; `Infinity` for no limit. Default 300,000. */
  readonly clockJumpMs?: number
  /** Which requests get a line in the log. Default: none. */
  readonly logRequests?: Exclude<RequestLogChoice, 'off'>
  /** Serves HTTPS with the certificate and the key in these files. Default: HTTP. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string }
  /** Default: an SQLite file in the data folder, created with the first memory. */
  readonly memory?: MemoryChoice
  /** `off`: no read models. Default: read models in the data folder, unless the store is in memory. */
  readonly readModels?: 'off'
  /** `off`: the console is not served at `/`. Default: it is served. */
  readonly console?: 'off'
  /** Signed checkpoints of the log (EV-07). `off`: none are signed. Default: one every minute, with a key in the data folder, unless the store is in memory. */
  readonly checkpoints?: CheckpointChoice | 'off'
  /** Receivers of alerts. Default: only the server's log and WebSockets. */
  readonly webhooks?: ReadonlyArray<WebhookOptions>
  /** Settings of new queues that differ from Daybook's own. */
  readonly defaults?: SettingsPatch
  /** The program that the server starts for each task. Default: none. */
  readonly launcher?: LauncherChoice
}

/** Where memories of completions with discoveries or errors are kept (TQM-MEM-001). */
export type MemoryChoice =
  /** A file in the data folder. */
  | { readonly kind: 'sqlite'; readonly recallMs: number; readonly limit: number }
  /** A server with the API in docs/memory.md. `token` is sent as a bearer token. */
  | { readonly kind: 'http'; readonly url: string; readonly token?: string; readonly timeoutMs: number; readonly recallMs: number; readonly limit: number }
  | { readonly kind: 'off' }

export interface CheckpointChoice {
  /** The file of the private key, in PEM. It is created if it does not exist. Default: in the data folder. */
  readonly keyFile?: string
  /** A file or a URL that receives each checkpoint as well. */
  readonly witness?: string
  /** Interval in milliseconds. Default 60,000. */
  readonly everyMs?: number
}

export type StoreChoice =
  /** Other servers may open a `shared` file as well. */
  | { readonly kind: 'sqlite'; readonly file: string; readonly sharing: 'exclusive' | 'shared' }
  /**
   * `url`: a connection string as for EventStoreDB's clients. `archive`: the folder of its archived events. `keys`: the file with the keys of
   * erasable tasks.
   */
  | { readonly kind: 'eventstoredb'; readonly url: string; readonly archive?: string; readonly keys?: string }
  | { readonly kind: 'memory' }

export const memoryDefault = { kind: 'sqlite', recallMs: 50, limit: 5 } as const satisfies MemoryChoice
export const checkpointMsDefault = 60_000
export const hostDefault = '127.0.0.1'
export const portDefault = 7878
export const dataDirDefault = 'daybook-data'
export const logFileName = 'daybook.sqlite'
/** Names in the data folder: the archive of a log that is elsewhere, and the keys of its erasable tasks. */
export const archiveFolderName = 'archive'
export const keysFileName = 'keys.db'
