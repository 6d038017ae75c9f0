/** The server's certificate and its key, from files. They are read again when they change, so that a certificate is renewed without a restart. */
import { readFileSync } from 'node:fs'
import { createSecureContext, type Server } from 'node:tls'
import { errorText } from '../error-text.js'

/** Files in PEM. The certificate file also has the intermediate certificates, up to one that clients trust. */
export interface TlsFiles {
  readonly certFile: string
  readonly keyFile: string
}

export interface TlsPair {
  readonly cert: Buffer
  readonly key: Buffer
}

/** How often the files are checked for changes, in milliseconds. */
const everyMs = 60_000

/** @throws Error with what to do if the files cannot be read, or do not belong together. */
export const readTls = ({ certFile, keyFile }: TlsFiles): TlsPair => {
  const pair = { cert: read('tls-cert', certFile), key: read('tls-key', keyFile) }
  try {
    createSecureContext(pair)
    return pair
  } catch (error) {
    throw new Error(`${certFile} and ${keyFile} are not a certificate and its key in PEM: ${errorText(error)}`, { cause: error })
  }
}

const read = (name: string, file: string): Buffer => {
  try {
    return readFileSync(file)
  } catch (error) {
    throw new Error(`the file of --${name} cannot be read: ${errorText(error)}`, { cause: error })
  }
}


/** New connections use the certificate that the files have by then. Returns a function that stops this. */
export const followTls = (server: Server, files: TlsFiles, used: TlsPair, warn: (message: string) => void, lookMs = everyMs): (() => void) => {
  let known = used
  let told = ''
  const look = (): void => {
    try {
      const found = readTls(files)
      told = ''
      if (found.cert.equals(known.cert) && found.key.equals(known.key)) return
      server.setSecureContext(found)
      known = found
    } catch (error) {
      // One of the two files may be new, and the other not yet.
      const why = `the server goes on with the certificate that it has: ${errorText(error)}`
      if (why !== told) warn(why)
      told = why
    }
  }
  const timer = setInterval(look, lookMs)
  timer.unref()
  return () => clearInterval(timer)
}
