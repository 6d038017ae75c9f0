/** CON-9: commands of people and services, from the events that they became; and the figures of reports and comparisons. */
import { columnTitle, commandsOf, csvHeader, csvRow, figureText, findCommands, isAsked, otherMembers, wayOf, waysOf } from '@daybook/console/internal'
import { describe, expect, test } from 'vitest'

type Event = Parameters<typeof commandsOf>[0][number]
let revision = 0
const event = (type: string, data: Event['data'] = {}, actor: string | undefined = 'ada', correlationId = 'c1', at = '2026-01-01T10:00:00.000Z'): Event => ({ revision: revision++, type, at, data, correlationId, ...(actor === undefined ? {} : { actor }) })

describe('CON-9: commands', () => {
  test('events of one command are one row; those of another are not, even if they follow at once', () => {
    const events = [
      event('Requeued', { task: 'a', reason: 'fixed' }), event('Requeued', { task: 'b', reason: 'fixed' }), event('BreakerClosed', { taskType: 'mail', cause: 'manual' }),
      event('QueueConfigured', { patch: { policy: 'score', capacity: {} } }, 'ada', 'c2'), event('QueuePaused', { reason: 'upgrade' }, 'bob', 'c2'),
    ]
    expect(commandsOf(events)).toMatchObject([
      { revision: events[0]?.revision, actor: 'ada', events: [['Requeued', 2], ['BreakerClosed', 1]], tasks: ['a', 'b'], reason: 'fixed' },
      { actor: 'ada', events: [['QueueConfigured', 1]], tasks: [], subject: 'policy, capacity' },
      { actor: 'bob', events: [['QueuePaused', 1]], reason: 'upgrade' },
    ])
  })

  test.each<readonly [string, Event, boolean, boolean]>([
    ['what a reviewer decides', event('Discarded', { task: 'a' }), true, true],
    ['what is claimed', event('Claimed', { task: 'a' }), false, true],
    ['what is enqueued', event('TaskEnqueued', { task: 'a' }), false, true],
    ['a task that is restarted', event('TaskEnqueued', { task: 'b', restartOf: 'a' }), true, true],
    ['a breaker that a person opens', event('BreakerOpened', { taskType: 'mail', cause: 'manual' }), true, true],
    ['a breaker that failures open', event('BreakerOpened', { taskType: 'mail', cause: 'threshold' }), false, true],
    ['what the queue does by itself', event('Requeued', { task: 'a' }, 'daybook'), false, false],
    ['what an older version did by itself', { revision: 7, type: 'Requeued', at: '2026-01-01T10:00:00.000Z', data: {} }, false, false],
  ])('%s', (_, each, isDecision, isCommand) => {
    expect([isAsked(each, { withWork: false }), isAsked(each, { withWork: true })]).toEqual([isDecision, isCommand])
  })

  test('the log is read until there is enough, no command is torn apart, and one can go on from there', async () => {
    revision = 0
    const log = Array.from({ length: 40 }, (_, i) => (i % 2 === 0 ? event('Cancelled', { task: `t${i}` }, 'ada', `c${Math.floor(i / 8)}`) : event('Claimed', { task: `t${i}` }, 'fleet', `w${i}`)))
    const asked: Array<string> = []
    const read = async (from: string) => {
      asked.push(from)
      const events = log.filter((each) => each.revision >= Number(from)).slice(0, 10)
      const next = (events.at(-1)?.revision ?? 0) + 1
      return { events, next: next >= log.length ? null : next, revision: log.length - 1 }
    }
    const first = await findCommands(read, '0', 6, { withWork: false })
    expect(first.events.map(({ data }) => data['task'])).toEqual(['t0', 't2', 't4', 't6', 't8', 't10', 't12', 't14'])
    expect(first.next).toBe(16)
    const rest = await findCommands(read, String(first.next), 100, { withWork: false })
    expect(rest.events).toHaveLength(12)
    expect(rest.next).toBeNull()
    expect(asked).toEqual(['0', '10', '16', '26', '36'])
  })

  test('a search that finds nothing ends, and says where it was', async () => {
    let next = 0
    const nothing = await findCommands(async () => ({ events: [], next: ++next, revision: 9_999 }), '0', 1, { withWork: false })
    expect(nothing).toEqual({ events: [], next: 20 })
  })

  test('a row of a file has what the page shows', () => {
    const row = csvRow(event('LimitSet', { limit: 'smtp', reason: 'too many' }, 'ada', 'c9'))
    expect(Object.fromEntries(csvHeader.map((name, i) => [name, row[i]]))).toMatchObject({ actor: 'ada', type: 'LimitSet', task: undefined, subject: 'smtp', reason: 'too many', correlationId: 'c9' })
  })
})

test('CON-10: figures of reports have units, and groups that are added up say how many', () => {
  const row = { from: '2026-01-01T00:00:00.000Z', type: null, others: 3, waitP50Seconds: 90, retryShare: 0.125, ratio: 0.5, claimed: 12_000, error: null }
  expect(Object.keys(row).map((name) => figureText(row, name)).slice(1)).toEqual(['3 others', '3', '1 min 30 s', '12.5 %', '0.5', '12,000', '–'])
  expect(figureText({ ...row, others: 1 }, 'type')).toBe('1 other')
  expect(figureText({ tenant: null }, 'tenant')).toBe('no tenant')
  expect(figureText({ signature: 'ca0744d29a2cec96' }, 'signature')).toBe('ca0744d29a2c')
  expect(['waitP50Seconds', 'enqueuedPerHour', 'deadlinesMet', 'seconds', 'from'].map(columnTitle)).toEqual(['wait P50', 'enqueued per hour', 'deadlines met', 'for', 'from'])
})

test('CON-8: ways from status to status are counted, the most frequent first', () => {
  const task = (before: Record<string, unknown> | null, after: Record<string, unknown> | null) => ({ id: 'a', number: 1, type: 'mail', before, after, events: [] })
  const done = task({ status: 'pending', attempt: 0 }, { status: 'completed', attempt: 1 })
  const tasks = [task(null, { status: 'pending' }), done, done, task({ priority: 5 }, { priority: 8 }), task({ status: 'completed' }, null)]
  expect(waysOf(tasks).map(({ key, before, after, count }) => [key, before, after, count])).toEqual([
    ['pending~completed', 'pending', 'completed', 2], ['completed~gone', 'completed', undefined, 1], ['new~pending', undefined, 'pending', 1], ['same', undefined, undefined, 1],
  ])
  expect(tasks.map((each) => wayOf(each).key)).toContain('same')
  expect(otherMembers(done)).toEqual([{ name: 'attempt', before: 0, after: 1 }])
  expect(otherMembers(task(null, { status: 'pending' }))).toEqual([])
})
