/** All plants. To add one, add a row to the file of its part, and run `npm run mutants -- --only 'its title'`. */
import type { Plant } from '../plant.js'
import { agentPlants } from './agents.js'
import { chainPlants } from './chain.js'
import { capacityPlants } from './capacity.js'
import { alertPlants } from './alerts.js'
import { webhookPlants } from './webhooks.js'
import { cliPlants } from './cli.js'
import { clientPlants } from './client.js'
import { consoleBrowserPlants } from './console-browser.js'
import { consolePlants } from './console.js'
import { archivePlants } from './archive.js'
import { backupPlants } from './backup.js'
import { breakerPlants } from './breakers.js'
import { corePlants } from './core.js'
import { enginePlants } from './engine.js'
import { erasablePlants } from './erasable.js'
import { eventStoreDbPlants } from './eventstoredb.js'
import { handlePlants } from './handles.js'
import { explainPlants } from './explain.js'
import { fieldPlants } from './fields.js'
import { amendPlants } from './amend.js'
import { loopPlants } from './loops.js'
import { memoryBankPlants } from './memory-bank.js'
import { memoryPlants } from './memory.js'
import { deadlinePlants } from './deadlines.js'
import { embeddedPlants } from './embedded.js'
import { outboxPlants } from './outbox.js'
import { pagePlants } from './pages.js'
import { pastPlants } from './past.js'
import { outcomePlants } from './outcomes.js'
import { keyPlants } from './keys.js'
import { limitPlants } from './limits.js'
import { projectionPlants } from './projections.js'
import { readModelPlants } from './read-models.js'
import { transportPlants } from './transport.js'
import { tokenPlants } from './tokens.js'
import { reportPlants } from './reports.js'
import { lanePlants } from './lanes.js'
import { readyPlants } from './ready.js'
import { redactPlants } from './redact.js'
import { rowPlants } from './rows.js'
import { batchPlants } from './batches.js'
import { requestLogPlants } from './request-log.js'
import { schedulePlants } from './schedules.js'
import { simulationPlants } from './simulation.js'
import { snapshotPlants } from './snapshots.js'
import { sqlitePlants } from './sqlite.js'
import { surfacePlants } from './surface.js'
import { tablePlants } from './tables.js'
import { telemetryPlants } from './telemetry.js'
import { tenantPlants } from './tenants.js'
import { threadPlants } from './threads.js'
import { timePlants } from './time.js'
import { webSocketPlants } from './websocket.js'
import { whatIfPlants } from './what-if.js'
import { workerPlants } from './worker.js'

export const allPlants: ReadonlyArray<Plant> = [
  ...corePlants,
  ...consolePlants,
  ...cliPlants,
  ...surfacePlants,
  ...requestLogPlants,
  ...tenantPlants,
  ...breakerPlants,
  ...keyPlants,
  ...tablePlants,
  ...fieldPlants,
  ...limitPlants,
  ...readyPlants,
  ...lanePlants,
  ...agentPlants,
  ...capacityPlants,
  ...explainPlants,
  ...redactPlants,
  ...loopPlants,
  ...amendPlants,
  ...outcomePlants,
  ...deadlinePlants,
  ...embeddedPlants,
  ...pagePlants,
  ...pastPlants,
  ...chainPlants,
  ...archivePlants,
  ...backupPlants,
  ...erasablePlants,
  ...schedulePlants,
  ...batchPlants,
  ...alertPlants,
  ...webhookPlants,
  ...enginePlants,
  ...timePlants,
  ...sqlitePlants,
  ...threadPlants,
  ...eventStoreDbPlants,
  ...memoryPlants,
  ...memoryBankPlants,
  ...snapshotPlants,
  ...rowPlants,
  ...simulationPlants,
  ...whatIfPlants,
  ...projectionPlants,
  ...readModelPlants,
  ...tokenPlants,
  ...telemetryPlants,
  ...transportPlants,
  ...reportPlants,
  ...clientPlants,
  ...handlePlants,
  ...outboxPlants,
  ...webSocketPlants,
  ...workerPlants,
  ...consoleBrowserPlants,
]
