/** What changed settings change in the state. */
import { isIsolated } from '../model/isolation.js'
import type { Settings } from '../model/settings.js'
import { policyOf } from '../ready/policy.js'
import type { Tables } from './tables.js'

export const changeSettings = (tables: Tables, settings: Settings): void => {
  const before = tables.head.settings
  tables.head.settings = settings
  countTenants(tables)
  if (settings.policy === before.policy && settings.score === before.score) return
  const { policy } = tables.ready
  tables.ready.reorder(policyOf(settings))
  tables.undoLog.note(() => tables.ready.reorder(policy))
}

/** Called when the setting `tenants` may have changed. It mostly does not, and if it does, the state has few tasks. */
export const countTenants = (tables: Tables): void => {
  const { tenantCounts, undoLog } = tables
  const before = tenantCounts.isOn
  if (isIsolated(tables) === before) return
  tenantCounts.turn(!before, tables.byNumber.values())
  undoLog.note(() => tenantCounts.turn(before, tables.byNumber.values()))
}
