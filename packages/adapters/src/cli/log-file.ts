import { access, constants } from 'node:fs/promises'
import type { LogAddress } from '../store/index.js'
import { CliError } from './exit-codes.js'

/** The error for a queue that is not among these. `where`: what has them. */
export const noSuchQueue = (queue: string, queues: ReadonlyArray<string>, where = 'this log'): CliError =>
  new CliError(queues.length === 0 ? `there is no queue in ${where} yet` : `there is no queue ${queue} in ${where}; --queue names one of: ${queues.join(', ')}`)

/** @throws CliError with what to do if the log is a file that is not there, or that may not be read. */
export const assertLogFile = async (address: LogAddress): Promise<void> => {
  if (address.kind !== 'sqlite') return
  const { file } = address
  await access(file, constants.R_OK).catch((error: NodeJS.ErrnoException) => {
    const isMissing = error.code === 'ENOENT' || error.code === 'ENOTDIR'
    throw new CliError(isMissing ? `${file} is not there: --data names the server's data folder, --store its log` : `${file} cannot be read: ${error.message}`)
  })
}
