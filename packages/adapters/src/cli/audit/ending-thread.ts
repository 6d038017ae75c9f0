/** Entry point of the thread that computes the state of a queue at a revision while its events are exported. */
import { parentPort, workerData } from 'node:worker_threads'
import { depthOf, headOf } from '@daybook/core'
import { readSnapshotFolder } from '../../files/snapshots/snapshots.js'
import { openLog } from '../../open-log.js'
import { PastStates } from '../../past/past-states.js'
import type { Ending } from './source.js'
import type { EndingOptions } from './thread-of-ending.js'

const { address, snapshots, queue, revision } = workerData as EndingOptions
const log = await openLog(address)
const states = new PastStates({ log, snapshots: snapshots === undefined ? undefined : readSnapshotFolder(snapshots) })
const ending = await states.use(queue, revision, async (state): Promise<Ending> => ({ settings: headOf(state).settings, byStatus: depthOf(state).byStatus }))
await log.close()
parentPort?.postMessage(ending)
