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

/**
 * Whether the error means that events of one stream are gone: somebody has removed them, or their segment of the archive is damaged. Retrying is
 * useless until somebody brings them back. Damage of the store itself is not meant, because it may concern every stream.
 */
export const isDestroyed = (error: unknown): error is StoreError =>
  error instanceof LostEvents || (error instanceof StoreError && (error.code === 'deleted' || error.code === 'truncated'))
