import type { DaybookClient } from '../../client/index.js'
import type { AuditSource } from './source.js'

export const serverSource = (client: DaybookClient): AuditSource => ({
  queue: client.queue,
  state: (filter, moment) => (moment === undefined ? client : client.at(moment)).state(filter),
  diff: (between) => client.diff(between),
  settings: (moment) => client.at(moment).settings.get(),
  history: (id, moment) => client.at(moment).history(id),
  events: (filter, moment) => (moment === undefined ? client : client.at(moment)).eachEvent(filter),
  close: () => client.close(),
})
