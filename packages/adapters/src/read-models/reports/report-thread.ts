/** Entry point of the thread that reads reports, so that no other request waits for one. */
import { parentPort, workerData } from 'node:worker_threads'
import { readCauses } from '../find-causes.js'
import { answerRequests } from '../../threads/requests.js'
import { readReport } from './read-report.js'
import type { ReaderOptions, ReadRequest } from './reader.js'

if (parentPort !== null) {
  const { file } = workerData as ReaderOptions
  answerRequests<ReadRequest>(parentPort, (asked) => (asked.kind === 'report' ? readReport(file, asked.request) : readCauses(file, asked.question)))
}
