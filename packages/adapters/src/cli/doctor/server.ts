/** The doctor for a running server: over HTTP, with the rights of an auditor. */
import { decodeEvent, isEventType, isUnreadable, type QueueEvent, type Unreadable, versionOf } from '@daybook/core'
import { DaybookError, type DaybookClient, type HistoryEvent } from '../../client/index.js'
import { clock } from '../text.js'
import type { Finding, Tell } from './finding.js'
import { aheadText, FoldCheck } from './fold-check.js'

export const checkServer = async (client: DaybookClient, url: string, tell: Tell): Promise<ReadonlyArray<Finding>> => {
  const findings: Array<Finding> = []
  await client.health()
  let notOpen: number
  try {
    const { ahead = [], degraded = [], readOnly = [], refused = [] } = await client.ready()
    findings.push({ level: 'good', about: url, says: 'alive and ready' })
    notOpen = refused.length
    for (const { queue, reason } of refused) findings.push({ level: 'bad', about: `${url}, queue ${queue}`, says: `is not open, so it answers nothing: ${reason}` })
    for (const { queue, reason } of readOnly) findings.push({ level: 'bad', about: `${url}, queue ${queue}`, says: reason })
    for (const { queue, seconds } of ahead) findings.push({ level: 'note', about: `${url}, queue ${queue}`, says: aheadText(seconds, 'the clock of its server') })
    for (const { part, queue, reason, since } of degraded) {
      findings.push({ level: 'bad', about: queue === undefined ? part : `${part} of ${queue}`, says: `${part === 'checkpoints' ? 'not signed' : 'out of date'} since ${clock(since)}: ${reason}` })
    }
  } catch (error) {
    if (!(error instanceof DaybookError) || error.code === 'unreachable') throw error
    findings.push({ level: 'bad', about: url, says: `alive, but not ready: ${error.detail}` })
    return findings
  }
  const queues = await client.queues()
  if (queues.length + notOpen === 0) findings.push({ level: 'note', about: url, says: 'holds no queues yet' })
  for (const { name } of queues) {
    findings.push(...(await checkQueue(client, name, tell)))
  }
  return findings
}

/** @throws DaybookError if the server does not answer any more. */
const checkQueue = async (client: DaybookClient, name: string, tell: Tell): Promise<ReadonlyArray<Finding>> => {
  const check = new FoldCheck(name)
  try {
    for await (const event of client.in(name).eachEvent()) {
      check.event(event.revision, event.type, eventOf(event))
      if (check.events % 1_000 === 0) tell(`${name}: ${check.events} events`)
    }
    return check.findings()
  } catch (error) {
    if (!(error instanceof DaybookError)) throw error
    // A token for tenants may not read the log. That says nothing about the log.
    if (error.code === 'forbidden') return [{ level: 'unread', about: `queue ${name}`, says: `its events were not read: ${error.detail}` }]
    // A stream that breaks off is an event that cannot be read, if the server is there.
    await client.health()
    const upTo = check.events === 0 ? 'no event of the log can be read' : `the log can be read up to revision ${check.events - 1} only`
    const advice = error.code === 'unreachable' ? `; run \`daybook audit verify --data DIR --queue ${name}\` where the server runs: it names what is damaged` : ''
    return [{ level: 'bad', about: `queue ${name}`, says: `${upTo}: ${error.detail}${advice}` }]
  }
}

/** An older server sends no `schemaVersion`. Then the newest version is assumed. */
const eventOf = ({ type, at, data, needs, schemaVersion = isEventType(type) ? versionOf(type) : 1 }: HistoryEvent): QueueEvent | Unreadable => {
  const event = decodeEvent(type, schemaVersion, Date.parse(at), data)
  return isUnreadable(event) ? { ...event, version: schemaVersion, ...(needs === undefined ? {} : { needs }) } : event
}
