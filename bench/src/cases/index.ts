import type { Case } from '../case.js'
import { backlog, drain500k, drain50k, drainHttp } from './drain.js'
import { enqueueBulk, enqueueBulkHttp, enqueueCallers, enqueueCallersHttp, sequential, sequentialHttp } from './enqueue.js'
import { esdbAppend, esdbLife, esdbReplay, esdbSoak } from './eventstoredb.js'
import { fold } from './fold.js'
import { latency, latencyHttp } from './latency.js'
import { claimAtMillion, memory, replayFromFile, start } from './million.js'
import { sharedEsdb, sharedSqlite } from './shared.js'

export const cases: ReadonlyArray<Case> = [
  fold,
  replayFromFile,
  enqueueCallers,
  enqueueCallersHttp,
  enqueueBulk,
  enqueueBulkHttp,
  drain50k,
  drainHttp,
  drain500k,
  sequential,
  sequentialHttp,
  latency,
  latencyHttp,
  backlog,
  claimAtMillion,
  memory,
  start,
  esdbAppend,
  esdbLife,
  esdbReplay,
  esdbSoak,
  sharedSqlite,
  sharedEsdb,
]
