/** The messages between the store's thread and the reader's thread. */
import type { StoreProblem } from './errors.js'
import type { PackedPage } from './packed-page.js'
import type { Span } from './queries.js'

export interface ReaderOptions {
  readonly file: string
}

export type ToReader =
  | { readonly kind: 'start'; readonly read: number; readonly span: Span; readonly backwards: boolean }
  /** Requests one more page. The store's thread has some requests in flight ahead of its use. */
  | { readonly kind: 'more'; readonly read: number }
  | { readonly kind: 'stop'; readonly read: number }
  | { readonly kind: 'close' }

export type FromReader =
  | { readonly kind: 'page'; readonly read: number; readonly page: PackedPage; readonly last: boolean }
  | { readonly kind: 'failed'; readonly read: number; readonly problem: StoreProblem }
