/** What one append may hold: what the store says, or less once it has refused an append as too large. A server may be set to a lower limit than its adapter knows. */
import type { AppendError, StoreLimits } from '../../store/index.js'

/** The part of the server's limit that is used. Servers count some bytes for each event that are not counted here. */
const usedShare = 0.9

export class AppendLimits implements StoreLimits {
  readonly appendEventsMax: number
  private bytesMax: number

  constructor(
    { appendBytesMax, appendEventsMax }: StoreLimits,
    private readonly warn: (message: string) => void,
  ) {
    this.bytesMax = appendBytesMax
    this.appendEventsMax = appendEventsMax
  }

  get appendBytesMax(): number {
    return this.bytesMax
  }

  /** The store has refused this append: the next ones are smaller. The limit falls each time, so a command that never fits is refused in the end. */
  lower({ bytes, bytesMax }: Extract<AppendError, { readonly _tag: 'AppendTooLarge' }>): void {
    const before = this.bytesMax
    const refused = bytesMax > 0 ? Math.min(bytes, bytesMax) : bytes
    this.bytesMax = Math.min(before, Math.floor(refused * usedShare))
    this.warn(`the store refused an append of ${bytes} bytes; it takes ${bytesMax}. Until the next start, appends have ${this.bytesMax} bytes at most instead of ${before}, and a command that needs more is refused`)
  }
}
