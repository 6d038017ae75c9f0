/** Entry point of the thread that reads reports, so that no other request waits for one. */
import { parentPort, workerData } from 'node:worker_threads'
import { readCauses } from '../read-models/find-causes.js'
import { readReport } from './read-report.js'
import type { FromReader, ReaderOptions, ToReader } from './reader.js'

const port = parentPort
if (port !== null) {
  const { file } = workerData as ReaderOptions
  port.on('message', (message: ToReader) => {
    const { id } = message
    const send = (sent: FromReader): void => port.postMessage(sent)
    try {
      send({ id, answer: message.kind === 'report' ? readReport(file, message.request) : readCauses(file, message.question) })
    } catch (error) {
      send({ id, problem: error instanceof Error ? error.message : String(error) })
    }
  })
}
