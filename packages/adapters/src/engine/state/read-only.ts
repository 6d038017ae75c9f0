/**
 * Decides whether a queue is read-only. Its log may have an event that this version cannot read: a newer server wrote it in a rolling upgrade, or
 * another program did, or it is damaged. Then the state is incomplete, and a decision on it could hand out a completed task. So commands are refused
 * and time stands still, but the state can be read.
 */
import { daybookVersion, lastUnreadableOf, type QueueState, type UnreadableEvent } from '@daybook/core'
import type { Refusal } from '../types.js'

export class ReadOnly {
  private known: UnreadableEvent | null = null
  private current: Refusal | undefined

  constructor(
    private readonly queue: string,
    /** Decisions are allowed although events up to this revision cannot be read. An operator sets this. */
    private readonly pastRevision: number,
    private readonly warn: (message: string) => void,
  ) {}

  /** The refusal of commands in this state; `undefined` if they are accepted. Warns when that changes. */
  refusalIn(state: QueueState): Refusal | undefined {
    const last = lastUnreadableOf(state)
    if (last !== this.known) {
      this.known = last
      this.current = last === null || last.revision <= this.pastRevision ? undefined : readOnly(readOnlyReason(this.queue, last))
      if (this.current !== undefined) this.warn(this.current.detail)
    }
    return this.current
  }
}

/** A newer server may be behind the same address, or this one may be updated soon. */
const retryAfterSeconds = 5
const readOnly = (detail: string): Refusal => ({ code: 'read-only', detail, retryAfterSeconds })

/** The reason and the possible actions, for an operator. */
export const readOnlyReason = (queue: string, { revision, type, version, why, needs }: UnreadableEvent): string => {
  const event = `event ${revision} (${type}${version === null ? '' : `, version ${version}`})`
  const remedy =
    needs !== null
      ? `Update this server to Daybook ${needs} or newer; it is ${daybookVersion}.`
      : why === 'malformed data'
        ? 'It is damaged, or another program wrote it.'
        : `A newer Daybook, or another program, wrote it; this one is ${daybookVersion}. Update it to the version that writes such events.`
  return (
    `read-only: ${event} of the log cannot be read (${why}), so nothing is decided without it. ${remedy} ` +
    `If it can never be read: \`daybook serve --past-unreadable ${queue}@${revision}\` decides without it`
  )
}
