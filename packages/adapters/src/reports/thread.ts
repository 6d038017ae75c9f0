/** Entry point of the thread that reads reports, so that nobody who is served now waits for one. */
import { parentPort, workerData } from 'node:worker_threads'
import { readReport } from './read-report.js'
import type { FromReader, ReaderOptions, ToReader } from './reader.js'

const port = parentPort
if (port !== null) {
  const { file } = workerData as ReaderOptions
  port.on('message', ({ id, request }: ToReader) => {
    const send = (message: FromReader): void => port.postMessage(message)
    try {
      send({ id, answer: readReport(file, request) })
    } catch (error) {
      send({ id, problem: error instanceof Error ? error.message : String(error) })
    }
  })
}
