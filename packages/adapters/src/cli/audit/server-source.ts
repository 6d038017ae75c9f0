import type { DaybookClient } from '../../client/index.js'
import { lineOf } from './exported.js'
import type { AuditSource } from './source.js'

/** Characters of lines that are handed over together. */
const gatheredMax = 2 ** 18

export const serverSource = (client: DaybookClient): AuditSource => ({
  queue: client.queue,
  state: (filter, moment) => (moment === undefined ? client : client.at(moment)).state(filter),
  diff: (between) => client.diff(between),
  settings: (moment) => client.at(moment).settings.get(),
  history: (id, moment) => client.at(moment).history(id),
  events: (filter, moment) => (moment === undefined ? client : client.at(moment)).eachEvent(filter),
  lines: async function* (moment, isWanted) {
    let text = ''
    let events = 0
    let last = -1
    for await (const event of client.at(moment).eachEvent({})) {
      last = event.revision
      if (isWanted !== undefined && !isWanted(event.data)) continue
      text += lineOf(event)
      events++
      if (text.length < gatheredMax) continue
      yield { bytes: Buffer.from(text, 'utf8'), events, revision: last }
      text = ''
      events = 0
    }
    yield { bytes: Buffer.from(text, 'utf8'), events, revision: last }
  },
  close: () => client.close(),
})
