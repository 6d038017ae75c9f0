import type { SettingsPatch } from '@daybook/core'

/** Everything that a server is told, checked. */
export interface ServeOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  /** Tokens, snapshots and, unless `store` says otherwise, the log. */
  readonly dataDir: string
  readonly store: StoreChoice
  /** `off` is accepted on loopback addresses only. */
  readonly auth: 'tokens' | 'off'
  /** The admin token, where the user chose it; else one is made at the first start. */
  readonly token?: string
  /** Where queue files are kept (LK-04). Default: nowhere. */
  readonly queueFilesDir?: string
  /** Settings that new queues begin with, where they differ from Daybook's own. */
  readonly defaults?: SettingsPatch
}

export type StoreChoice =
  /** A `shared` file is one that other servers have open as well. */
  | { readonly kind: 'sqlite'; readonly file: string; readonly sharing: 'exclusive' | 'shared' }
  /** `url` is a connection string, as EventStoreDB's clients take it. */
  | { readonly kind: 'eventstoredb'; readonly url: string }
  | { readonly kind: 'memory' }

export const hostDefault = '127.0.0.1'
export const portDefault = 7878
export const dataDirDefault = 'daybook-data'
export const logFileName = 'daybook.sqlite'
