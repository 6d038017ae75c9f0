import type { DaybookClient } from '../../client/index.js'
import type { AuditSource } from './source.js'

export const serverSource = (client: DaybookClient): AuditSource => ({
  state: (filter, moment) => (moment === undefined ? client : client.at(moment)).state(filter),
  diff: (between) => client.diff(between),
  events: (filter, moment) => (moment === undefined ? client : client.at(moment)).eachEvent(filter),
  close: () => client.close(),
})
