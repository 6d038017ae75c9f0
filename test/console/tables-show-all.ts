/** Waits for the tables of reports, which a server that has just started begins to fill. Until then its pages are told that reports are not complete. */
import { setTimeout as delay } from 'node:timers/promises'
import type { DaybookClient } from '@daybook/adapters/client'
import { inTime } from '../support/in-time.js'

/** Reached only when something is broken: the tables are filled on a thread that lets all others go first. */
const tablesMsMax = 120_000

export const tablesShowAll = (admin: DaybookClient): Promise<void> => inTime('the tables of reports show the whole log', shown(admin), tablesMsMax)

const shown = async (admin: DaybookClient): Promise<void> => {
  for (const { revision } = await admin.summary(); ; await delay(50)) {
    const tables = await admin.readModels()
    if (tables.building === undefined && tables.revision >= revision) return
  }
}
