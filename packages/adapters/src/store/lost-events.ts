import { StoreError } from './event-store.js'

/** Events that are known to have existed, and that cannot be read. */
export class LostEvents extends StoreError {
  constructor(
    code: 'damaged' | 'truncated',
    /** The first and the last revision that cannot be read. */
    readonly from: number,
    readonly to: number,
    /** What is wrong, without advice. */
    readonly reason: string,
    advice: string,
    options?: ErrorOptions,
  ) {
    super(code, `${reason}: ${advice}.`, options)
  }
}
