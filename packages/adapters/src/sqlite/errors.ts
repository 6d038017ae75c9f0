/** The only place where errors of SQLite and of the file system are translated into Daybook's. */
import { errorText } from '../error-text.js'
import { StoreError, type AppendError } from '../store/index.js'

export type StoreErrorCode = StoreError['code']

/** A {@link StoreError} in a form that can be posted between threads. */
export interface StoreProblem {
  readonly code: StoreErrorCode
  readonly message: string
}

export interface AppendFailure {
  readonly error: AppendError
  /** The connection can no longer be trusted and must be opened again. */
  readonly fatal: boolean
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''

const textOf = (error: unknown): string => {
  const code = codeOf(error)
  const message = errorText(error)
  return code === '' ? message : `${message} (${code})`
}

/**
 * What a failed append means. Before the commit nothing can have been written. A commit that ran out of space is rolled back completely. A commit
 * that failed with an I/O error may be in the log after the next recovery, though this connection no longer sees it.
 */
export const appendFailure = (error: unknown, stage: 'before-commit' | 'commit'): AppendFailure => {
  const code = codeOf(error)
  if (code === 'SQLITE_FULL') {
    const reason = 'The disk (or its quota) is full, nothing was written: make room, then try again.'
    return { error: { _tag: 'Unavailable', reason }, fatal: false }
  }
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    const reason = 'Another process is writing to the store and did not finish in time: try again.'
    return { error: { _tag: 'Unavailable', reason }, fatal: false }
  }
  return stage === 'commit'
    ? { error: { _tag: 'OutcomeUnknown', reason: `The commit failed: ${textOf(error)}.` }, fatal: true }
    : { error: { _tag: 'Unavailable', reason: `Nothing was written: ${textOf(error)}.` }, fatal: true }
}

/** Whether SQLite says that the file is damaged, or none of its own. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(NOTADB|CORRUPT)/.test(codeOf(error))

const meanings: ReadonlyArray<readonly [prefix: string, code: StoreErrorCode, advice: string]> = [
  ['SQLITE_NOTADB', 'not-a-database', 'It is not an SQLite database: give another file.'],
  ['SQLITE_CORRUPT', 'damaged', 'It is damaged: run the doctor, or restore a backup.'],
  ['SQLITE_READONLY', 'read-only', 'Allow writing to the file and to its folder.'],
  ['EROFS', 'read-only', 'It is on a read-only file system: allow writing.'],
  ['EACCES', 'read-only', 'Allow writing to the file and to its folder.'],
  ['EPERM', 'read-only', 'Allow writing to the file and to its folder.'],
  ['SQLITE_BUSY', 'locked', 'Another process holds it: stop that one, or give another file.'],
  ['SQLITE_FULL', 'unavailable', 'The disk (or its quota) is full: make room.'],
  ['ENOSPC', 'unavailable', 'The disk (or its quota) is full: make room.'],
  ['ENOENT', 'unavailable', 'Its folder does not exist: create it.'],
  ['ENOTDIR', 'unavailable', 'Its folder does not exist: create it.'],
]

export const storeError = (error: unknown, file: string): StoreError => {
  if (error instanceof StoreError) return error
  const meaning = meanings.find(([prefix]) => codeOf(error).startsWith(prefix))
  const [, code, advice] = meaning ?? ['', 'unavailable' as const, 'Check the disk and the permissions.']
  return new StoreError(code, `Cannot use the store ${file}. ${advice} [${textOf(error)}]`, { cause: error })
}

export const toProblem = (error: unknown, file: string): StoreProblem => {
  const { code, message } = storeError(error, file)
  return { code, message }
}

export const fromProblem = ({ code, message }: StoreProblem): StoreError => new StoreError(code, message)

export const closedError = (): StoreError =>
  new StoreError('closed', 'The store has been closed: open it again.')

/** Runs something that reads or changes the file. What it throws is a {@link StoreError}. */
export const readingOf =
  (file: string) =>
  <A>(body: () => A): A => {
    try {
      return body()
    } catch (error) {
      throw storeError(error, file)
    }
  }
