/** What changed settings change in the state. */
import { isIsolated } from '../model/isolation.js'
import type { Settings } from '../model/settings.js'
import { policyOf } from '../ready/policy.js'
import type { Tables } from './tables.js'

/** Called when the settings for the order of tasks have changed. */
export const reorder = (tables: Tables, before: Settings): void => {
  const { settings } = tables.head
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
