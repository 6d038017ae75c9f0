/**
 * `Idempotency-Key`: the same key and body get the same answer (draft-ietf-httpapi-idempotency-key-header).
 *
 * Answers are kept in memory, bounded, and lost at a restart. The log itself prevents what must never happen twice: tasks have idempotency keys,
 * outcomes have tokens.
 */
import { createHash } from 'node:crypto'
import type { HttpLimits } from './limits.js'
import { type Problem, problem, type ProblemCode } from './problem.js'

/** An answer that can be sent, also repeatedly. */
export interface Rendered {
  readonly status: number
  readonly type: string
  readonly text: string
  readonly revision: number | undefined
  /** Of a problem. */
  readonly code?: ProblemCode
  readonly retryAfterSeconds?: number
}

interface Entry {
  readonly fingerprint: string
  readonly at: number
  /** `undefined` while the first request is still running. */
  rendered: Rendered | undefined
  bytes: number
}

export type Begun =
  /** The first request with this key: run it and call `end` with its answer, or with `undefined` to forget the key. */
  | { readonly _tag: 'First'; readonly end: (rendered: Rendered | undefined) => void }
  | { readonly _tag: 'Known'; readonly rendered: Rendered }
  | { readonly _tag: 'Refused'; readonly problem: Problem }

type Limits = Pick<HttpLimits, 'idempotencyEntriesMax' | 'idempotencyBytesMax' | 'idempotencyMs'>

/** Estimated bytes of an entry besides its text. */
const entryBytes = 256

export class IdempotencyKeys {
  /** Oldest first. */
  private readonly entries = new Map<string, Entry>()
  private bytes = 0

  constructor(
    private readonly limits: Limits,
    /** Milliseconds since any moment. Not the wall clock: one that jumps would forget all answers, or keep them for ever. */
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `holder`: the id of the caller's token. */
  begin(holder: string, key: string, request: string, body: Buffer | undefined): Begun {
    this.forgetOld()
    const id = `${holder} ${key}`
    const fingerprint = createHash('sha256').update(request).update('\n').update(body ?? '').digest('base64')
    const known = this.entries.get(id)
    if (known === undefined) return this.first(id, fingerprint)
    if (known.fingerprint !== fingerprint) {
      return {
        _tag: 'Refused',
        problem: problem('conflict', 'this Idempotency-Key was used for another request: a new request needs a new key', { status: 422 }),
      }
    }
    return known.rendered === undefined
      ? { _tag: 'Refused', problem: problem('conflict', 'the first request with this Idempotency-Key is still running: try again shortly', { retryAfterSeconds: 1 }) }
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

  /** Drops entries that are too old or over the limits, oldest first. Entries of running requests stay. */
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
