/** What the store's thread and the reader's thread say to each other. */
import type { StoreProblem } from './errors.js'
import type { PackedPage } from './packed-page.js'
import type { Span } from './queries.js'

export interface ReaderOptions {
  readonly file: string
}

export type ToReader =
  | { readonly kind: 'start'; readonly read: number; readonly span: Span; readonly backwards: boolean }
  /** One page, please. The store's thread keeps some of these ahead of what it has used. */
  | { readonly kind: 'more'; readonly read: number }
  | { readonly kind: 'stop'; readonly read: number }
  | { readonly kind: 'close' }

export type FromReader =
  | { readonly kind: 'page'; readonly read: number; readonly page: PackedPage; readonly last: boolean }
  | { readonly kind: 'failed'; readonly read: number; readonly problem: StoreProblem }
