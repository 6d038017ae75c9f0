import { access, constants } from 'node:fs/promises'
import type { LogAddress } from '../store/index.js'
import { CliError } from './exit-codes.js'

/** @throws CliError with what to do if the log is a file that is not there, or that may not be read. */
export const assertLogFile = async (address: LogAddress): Promise<void> => {
  if (address.kind !== 'sqlite') return
  const { file } = address
  await access(file, constants.R_OK).catch((error: NodeJS.ErrnoException) => {
    const isMissing = error.code === 'ENOENT' || error.code === 'ENOTDIR'
    throw new CliError(isMissing ? `${file} is not there: --data names the server's data folder, --store its log` : `${file} cannot be read: ${error.message}`)
  })
}
