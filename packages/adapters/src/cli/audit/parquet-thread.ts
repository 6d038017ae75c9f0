/** Entry point of the thread that encodes a Parquet file, which takes longer than reading the log and printing its lines. */
import { parentPort, type MessagePort } from 'node:worker_threads'
import { ParquetExport } from './parquet.js'
import type { FromParquet, ToParquet } from './thread-of-parquet.js'

const serve = (port: MessagePort): void => {
  const send = (message: FromParquet, moved: ReadonlyArray<ArrayBuffer> = []): void => port.postMessage(message, moved)
  const file = new ParquetExport((bytes) => send({ kind: 'part', bytes }, [bytes.buffer]))
  let turn: Promise<void> = Promise.resolve()

  const take = async (message: ToParquet): Promise<void> => {
    if (message.kind === 'end') return send({ kind: 'ended', manifest: await file.end(message.rest) })
    const { bytes, ...lines } = message.lines
    await file.lines({ ...lines, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength) })
    send({ kind: 'taken' })
  }

  // A failure ends the thread.
  port.on('message', (message: ToParquet) => (turn = turn.then(() => take(message))))
}

if (parentPort !== null) serve(parentPort)
