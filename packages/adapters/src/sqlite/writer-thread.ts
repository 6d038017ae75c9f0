/**
 * Entry point of the thread that writes, so that B-tree work and fsync do not block decisions.
 *
 * It takes all waiting appends, writes them with one commit and answers. Only after that, and only if the WAL has grown enough, does it make an
 * SQLite checkpoint, which copies the WAL into the file. A checkpoint delays the next append, but no answer.
 */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { appendTransaction, type AppendBatch, type AppendVerdict } from './append-transaction.js'
import { toProblem } from './errors.js'
import { type GoneFile, watchFiles } from './file-watch.js'
import { receivedBatch } from './posted-batch.js'
import { pageSize, schemaVersion } from './schema.js'
import type { FromWriter, ToWriter, WriterOptions } from './writer-protocol.js'

/** Approximate number of bytes written to the WAL between two checkpoints. */
const checkpointBytes = 16 * 2 ** 20
/** The WAL file keeps this size, because overwriting a file is faster than growing it. */
const walBytesKept = 64 * 2 ** 20
/** How long beginning a large WAL anew may wait for readers, in milliseconds. Daybook's own reads take less. A backup takes more, and is not waited for. */
const readersMsMax = 50
/** Maximum number of bytes of the appends that share one commit. */
const commitBytesMax = 4 * 2 ** 20

const openForWriting = ({ file, busyTimeoutMs, settle }: WriterOptions): Database.Database => {
  const db = new Database(file, { fileMustExist: true, timeout: busyTimeoutMs })
  try {
    db.pragma('synchronous = FULL')
    db.pragma('wal_autocheckpoint = 0')
    db.pragma(`journal_size_limit = ${walBytesKept}`)
    db.pragma('cache_size = -16000')
    // Otherwise a commit that is larger than the cache needs a temporary file, in a folder that may be full or read-only.
    db.pragma('cache_spill = OFF')
    if (settle) db.pragma(`user_version = ${schemaVersion}`)
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** Approximate number of bytes that the batch adds to the WAL: its text, and the pages that every commit rewrites. */
const walBytes = ({ stream, ids, types, datas, metadatas }: AppendBatch): number => {
  let bytes = 3 * pageSize
  for (let i = 0; i < ids.length; i++) {
    bytes += 80 + stream.length + ids[i]!.length + types[i]!.length + datas[i]!.length + metadatas[i]!.length
  }
  return bytes
}

const refusedFor = ({ name, remedy }: GoneFile): AppendVerdict => ({
  error: { _tag: 'Unavailable', reason: `${name} was deleted or exchanged while it was open. Nothing more is written, because it would be gone with this process. ${remedy}` },
})

const serve = (port: MessagePort, options: WriterOptions): void => {
  const send = (message: FromWriter): void => port.postMessage(message)
  const db = openForWriting(options)
  const write = appendTransaction(db, () => new Date().toISOString())
  const gone = watchFiles(options.file)
  gone()
  let refusal: AppendVerdict | undefined
  let written = 0

  const close = (): void => {
    db.close()
    port.close()
  }

  /** The appends that already wait after this one, and whether `close` came after them. */
  const takeWaiting = (first: AppendBatch): { batches: Array<AppendBatch>; bytes: number; last: boolean } => {
    const batches = [first]
    let bytes = walBytes(first)
    while (bytes < commitBytesMax) {
      const next = receiveMessageOnPort(port) as { message: ToWriter } | undefined
      if (next === undefined) break
      if (next.message.kind === 'close') return { batches, bytes, last: true }
      const batch = receivedBatch(next.message.batch)
      batches.push(batch)
      bytes += walBytes(batch)
    }
    return { batches, bytes, last: false }
  }

  const append = (batch: AppendBatch): void => {
    if (refusal !== undefined) {
      send({ kind: 'verdicts', verdicts: [refusal], fatal: true })
      return
    }
    const { batches, bytes, last } = takeWaiting(batch)
    const lost = gone()
    const { verdicts, fatal } = lost === undefined ? write(batches) : { verdicts: batches.map(() => refusedFor(lost)), fatal: false }
    if (fatal) refusal = { error: { _tag: 'Unavailable', reason: 'The writer stopped after an error: try again.' } }
    send({ kind: 'verdicts', verdicts, fatal })
    written += bytes
    if (!fatal && written >= checkpointBytes) checkpoint()
    if (last) close()
  }

  const checkpoint = (): void => {
    written = 0
    try {
      const [{ log: frames }] = db.pragma('wal_checkpoint(PASSIVE)') as [{ readonly log: number }]
      // SQLite begins the WAL anew by itself when nobody reads from it. While one reader or another always does, that moment never comes.
      if (frames * pageSize > walBytesKept) beginAnew()
    } catch {
      // The disk is full or the file busy. Everything is still in the WAL, and the next commit reports the error if it matters.
    }
  }

  /** Waits for those who read from the WAL. Whoever begins to read meanwhile reads from the file, which has everything by now. */
  const beginAnew = (): void => {
    db.pragma(`busy_timeout = ${readersMsMax}`)
    try {
      db.pragma('wal_checkpoint(RESTART)')
    } finally {
      db.pragma(`busy_timeout = ${options.busyTimeoutMs}`)
    }
  }

  send({ kind: 'open' })
  port.on('message', (message: ToWriter) => (message.kind === 'close' ? close() : append(receivedBatch(message.batch))))
}

if (parentPort !== null) {
  const options = workerData as WriterOptions
  try {
    serve(parentPort, options)
  } catch (error) {
    parentPort.postMessage({ kind: 'cannot-open', problem: toProblem(error, options.file) } satisfies FromWriter)
    parentPort.close()
  }
}
