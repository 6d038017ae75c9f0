import { archiveOldEvents } from './archive.js'
import { readModelsBeside } from './read-models.js'
import { reports } from './report.js'
import type { Case } from '../case.js'
import { claimDeadlines } from './deadlines.js'
import { backlog, drain500k, drain50k, drainHttp } from './drain.js'
import { enqueueBulk, enqueueBulkHttp, enqueueCallers, enqueueCallersHttp, sequential, sequentialHttp } from './enqueue.js'
import { esdbAppend, esdbLife, esdbReplay, esdbSoak } from './eventstoredb.js'
import { exportLog } from './export.js'
import { finished } from './finished.js'
import { fold } from './fold.js'
import { claimGroups, pageGroups, pollsDifferent, pollsEqual } from './groups.js'
import { latency, latencyHttp } from './latency.js'
import { claimAtMillion, memory, replayFromFile, start } from './million.js'
import { claimMixed, lifeMixed, lifeMixedHttp, startMixed } from './mixed.js'
import { pastMoments } from './past.js'
import { sharedEsdb, sharedSqlite } from './shared.js'
import { limitOfTenants, tenantMemory } from './tenants.js'
import { verifyLog } from './verify.js'

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
  finished,
  claimGroups,
  pollsEqual,
  pollsDifferent,
  pageGroups,
  claimDeadlines,
  tenantMemory,
  limitOfTenants,
  claimMixed,
  lifeMixed,
  lifeMixedHttp,
  startMixed,
  pastMoments,
  esdbAppend,
  esdbLife,
  esdbReplay,
  esdbSoak,
  readModelsBeside,
  reports,
  verifyLog,
  exportLog,
  archiveOldEvents,
  sharedSqlite,
  sharedEsdb,
]
