/**
 * `Idempotency-Key`: the same key and body get the same answer (draft-ietf-httpapi-idempotency-key-header).
 *
 * Kept in memory and bounded; a restart forgets. What must not happen twice whatever comes is held by the log
 * itself: tasks by their idempotency keys, outcomes by their tokens.
 */
import { createHash } from 'node:crypto'
import type { HttpLimits } from './limits.js'
import { type Problem, problem } from './problem.js'

/** An answer as it was sent. */
export interface Rendered {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly revision: number | undefined
}

interface Entry {
  readonly fingerprint: string
  readonly at: number
  /** `undefined` while the first request is under way. */
  rendered: Rendered | undefined
  bytes: number
}

export type Begun =
  /** The first: do it, and say what came of it; `undefined` to forget the key. */
  | { readonly _tag: 'First'; readonly end: (rendered: Rendered | undefined) => void }
  | { readonly _tag: 'Known'; readonly rendered: Rendered }
  | { readonly _tag: 'Refused'; readonly problem: Problem }

type Limits = Pick<HttpLimits, 'idempotencyEntriesMax' | 'idempotencyBytesMax' | 'idempotencyMs'>

/** Bytes of an entry besides its text, roughly. */
const entryBytes = 256

export class IdempotencyKeys {
  /** Oldest first. */
  private readonly entries = new Map<string, Entry>()
  private bytes = 0

  constructor(
    private readonly limits: Limits,
    private readonly now: () => number = Date.now,
  ) {}

  begin(actor: string, key: string, request: string, body: Buffer | undefined): Begun {
    this.forgetOld()
    const id = `${actor} ${key}`
    const fingerprint = createHash('sha256').update(request).update('\n').update(body ?? '').digest('base64')
    const known = this.entries.get(id)
    if (known === undefined) return this.first(id, fingerprint)
    if (known.fingerprint !== fingerprint) {
      return {
        _tag: 'Refused',
        problem: problem('conflict', 'this Idempotency-Key came with another request: a new request needs a new key', { status: 422 }),
      }
    }
    return known.rendered === undefined
      ? { _tag: 'Refused', problem: problem('conflict', 'the first request with this Idempotency-Key is still under way: ask again shortly', { retryAfterSeconds: 1 }) }
      : { _tag: 'Known', rendered: known.rendered }
  }

  private first(id: string, fingerprint: string): Begun {
    const entry: Entry = { fingerprint, at: this.now(), rendered: undefined, bytes: 0 }
    this.entries.set(id, entry)
    return {
      _tag: 'First',
      end: (rendered) => {
        if (rendered === undefined) return void this.entries.delete(id)
        entry.rendered = rendered
        entry.bytes = entryBytes + rendered.text.length
        this.bytes += entry.bytes
        this.forgetOld()
      },
    }
  }

  /** Oldest first, whatever is too old or too much; what is under way stays. */
  private forgetOld(): void {
    const { idempotencyEntriesMax, idempotencyBytesMax, idempotencyMs } = this.limits
    const bornAfter = this.now() - idempotencyMs
    for (const [id, { at, rendered, bytes }] of this.entries) {
      if (at > bornAfter && this.entries.size <= idempotencyEntriesMax && this.bytes <= idempotencyBytesMax) return
      if (rendered === undefined) continue
      this.entries.delete(id)
      this.bytes -= bytes
    }
  }
}
