/** Why a command is refused. `code` is stable and is the `code` of the HTTP problem. */

export interface FieldError {
  /** The place of the error: `tasks[3].priority`. */
  readonly path: string
  readonly message: string
}

export type RejectionCode =
  | 'invalid'
  | 'not-found'
  | 'conflict'
  | 'lease-lost'
  | 'wrong-state'
  /** A setting of the queue forbids the command. */
  | 'disabled'
  /** No more agents may start. */
  | 'capacity-exceeded'
  | 'unknown-dependency'
  | 'dependency-cycle'
  | 'too-large'

/** A refusal says what is wrong and what to do about it; nothing is appended (INV-16). */
export interface Rejection {
  readonly code: RejectionCode
  readonly detail: string
  readonly errors?: ReadonlyArray<FieldError>
}

/** The largest number of invalid fields that a refusal names. A small request may have very many, with a long message for each. */
export const errorsMax = 100

/** A refusal of invalid fields. Its text names the first of them, and says how many more were found. */
export const invalid = (errors: ReadonlyArray<FieldError>): Rejection => {
  const [first] = errors
  const detail = first === undefined ? 'the request is invalid' : `${first.path}: ${first.message}`
  return reject('invalid', errors.length > 1 ? `${detail} (and ${errors.length - 1} more)` : detail, errors.slice(0, errorsMax))
}

export const reject = (code: RejectionCode, detail: string, errors?: ReadonlyArray<FieldError>): Rejection =>
  errors === undefined ? { code, detail } : { code, detail, errors }
