import type { DaybookClient, HistoryEvent } from '../../client/index.js'
import { stableLines } from '../../http/json/stable-lines.js'
import { CliError } from '../exit-codes.js'
import { lineOf } from './exported.js'
import type { AuditSource, EventLines, IsWanted } from './source.js'

export const serverSource = (client: DaybookClient): AuditSource => ({
  queue: client.queue,
  state: (filter, moment) => (moment === undefined ? client : client.at(moment)).state(filter),
  diff: (between) => client.diff(between),
  revision: async (moment) => (await (moment === undefined ? client : client.at(moment)).state({ limit: 1 })).revision,
  ending: async (revision) => {
    const then = client.at({ revision })
    const { counts: { byStatus } } = await then.state({ limit: 1 })
    return { settings: await then.settings.get(), byStatus }
  },
  history: (id, moment) => client.at(moment).history(id),
  events: (filter, moment) => (moment === undefined ? client : client.at(moment)).eachEvent(filter),
  lines: async function* (moment, isWanted) {
    for await (const sent of client.at(moment).eventLines({})) yield isWanted === undefined ? asSent(sent) : printed(sent, isWanted)
  },
  close: () => client.close(),
})

/** Lines that have the form in which they are printed are not parsed, except the last one, for its revision. */
const asSent = (bytes: Buffer): EventLines => {
  const events = stableLines(bytes)
  if (events <= 0) return printed(bytes, () => true)
  const last = eventIn(bytes.toString('utf8', bytes.lastIndexOf(lineFeed, -2) + 1))
  return { bytes, events, revision: last.revision }
}
const lineFeed = 0x0a

const printed = (sent: Buffer, isWanted: IsWanted): EventLines => {
  const events = sent.toString('utf8').split('\n').filter((line) => line.trim() !== '').map(eventIn)
  const wanted = events.filter(({ type, data }) => isWanted(type, data))
  return { bytes: Buffer.from(wanted.map(lineOf).join(''), 'utf8'), events: wanted.length, revision: events[events.length - 1]?.revision ?? -1 }
}

const eventIn = (line: string): HistoryEvent => {
  try {
    return JSON.parse(line) as HistoryEvent
  } catch (error) {
    throw new CliError(`the server sent a line that is no JSON: ${(error as Error).message}`)
  }
}
