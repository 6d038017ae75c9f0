/** EV-06: over random histories, the part of a log that concerns a task folds each of its tasks to the statuses of the whole log. */
import { type AuditSource, concerned, concerns, Replay } from '@daybook/adapters/cli'
import type { HistoryEvent } from '@daybook/adapters/client'
import { encodeData } from '@daybook/adapters/engine'
import { type QueueEvent, versionOf } from '@daybook/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { scenarios } from '../properties/steps.js'
import { World } from '../properties/world.js'

const historyOf = (log: ReadonlyArray<QueueEvent>): ReadonlyArray<HistoryEvent> =>
  log.map((event, revision) => ({ revision, type: event.type, schemaVersion: versionOf(event.type), at: new Date(event.at).toISOString(), data: JSON.parse(encodeData(event)) as HistoryEvent['data'] }))

const sourceOf = (events: ReadonlyArray<HistoryEvent>): AuditSource => {
  const upTo = (revision: number): ReadonlyArray<HistoryEvent> => events.slice(0, revision + 1)
  return {
    history: async (id: string, { revision }: { readonly revision: number }) => upTo(revision).filter(({ data }) => data.task === id),
    lines: async function* ({ revision }: { readonly revision: number }) {
      const bytes = Buffer.from(upTo(revision).map((event) => `${JSON.stringify(event)}\n`).join(''), 'utf8')
      yield { bytes, events: revision + 1, revision }
    },
  } as Partial<AuditSource> as AuditSource
}

interface Folded {
  /** The status after each event about a task, by revision. */
  readonly statuses: ReadonlyMap<number, string | undefined>
  readonly misfits: ReadonlyArray<string>
}
const folded = (events: ReadonlyArray<HistoryEvent>): Folded => {
  const replay = new Replay('q')
  const steps = events.map((event) => replay.step(event))
  return {
    // Whether a pending task is shown as queued depends on how much all tasks together use of the capacity.
    statuses: new Map(steps.flatMap(({ event: { revision }, task, after }) => (task === undefined ? [] : [[revision, after === 'queued' ? 'pending' : after] as const]))),
    misfits: steps.filter(({ isMisfit }) => isMisfit).map(({ event: { revision, type } }) => `${revision} ${type}`),
  }
}

const partOf = async (events: ReadonlyArray<HistoryEvent>, task: string, revision: number): Promise<ReadonlyArray<HistoryEvent>> => {
  const tasks = await concerned(sourceOf(events), task, revision)
  const isWanted = concerns(tasks)
  return events.slice(0, revision + 1).filter(({ type, data }) => isWanted(type, data))
}

test('every task of a part goes through the same statuses as in the whole log, and every event fits', async () => {
  await fc.assert(
    fc.asyncProperty(scenarios(120), fc.nat(), fc.nat(), async (scenario, pick, end) => {
      const events = historyOf(new World(() => ({})).run(scenario).log)
      if (events.length === 0) return
      const revision = events.length - 1 - (end % Math.ceil(events.length / 2))
      const ids = events.slice(0, revision + 1).flatMap(({ type, data }) => (type === 'TaskEnqueued' ? [String(data.task)] : []))
      if (ids.length === 0) return
      const part = folded(await partOf(events, ids[pick % ids.length] as string, revision))
      const whole = folded(events.slice(0, revision + 1))
      expect(part.misfits).toEqual([])
      for (const [at, status] of part.statuses) expect(`${at} ${status}`).toBe(`${at} ${whole.statuses.get(at)}`)
    }),
    runs(60),
  )
})

const enqueued = (revision: number, number: number, more: object): HistoryEvent => ({
  revision, type: 'TaskEnqueued', at: new Date(revision * 1_000).toISOString(),
  data: { task: `t${number}`, number, type: 'mow', priority: 5, idempotencyKey: `k${number}`, timeout: 60, maxRetries: 3, backoffSeconds: 1, ...more },
})
const happened = (revision: number, type: string, data: HistoryEvent['data']): HistoryEvent => ({ revision, type, at: new Date(revision * 1_000).toISOString(), data })

test('a task behind others with its ordering key is blocked as long as in the whole log; other keys and earlier tasks are left out', async () => {
  const line = { orderingKey: 'lawn' }
  const cancelled = (revision: number, task: string): HistoryEvent => happened(revision, 'Cancelled', { task, reason: 'rain' })
  const events = [
    enqueued(0, 1, line), cancelled(1, 't1'), { ...enqueued(2, 2, { ...line, status: 'cancelled', createdAt: 0, retries: 0 }), type: 'TaskImported' },
    enqueued(3, 3, line), enqueued(4, 4, line), enqueued(5, 5, { orderingKey: 'hedge' }), enqueued(6, 6, line), enqueued(7, 7, line),
    cancelled(8, 't4'), cancelled(9, 't3'),
  ]
  const blocked = await partOf(events, 't6', 8)
  expect(blocked.map(({ data: { task } }) => task)).toEqual(['t3', 't4', 't6', 't4'])
  const statuses = (part: ReadonlyArray<HistoryEvent>): unknown => {
    const replay = new Replay('q')
    for (const event of part) replay.step(event)
    return replay.result()
  }
  expect(statuses(blocked)).toMatchObject({ misfits: 0, byStatus: { pending: 1, blocked: 1, cancelled: 1 } })
  expect(statuses(await partOf(events, 't6', 9))).toMatchObject({ misfits: 0, byStatus: { pending: 1, blocked: 0, cancelled: 2 } })
})

test('a rate that admits starts again is left out, because other tasks have used it up as well', async () => {
  const claimed = (revision: number, task: string): HistoryEvent => happened(revision, 'Claimed', { task, agent: 'bob', token: revision, expiresAt: 1_000_000 })
  const events = [
    happened(0, 'LimitSet', { limit: 'type:mow', rate: { starts: 2, perSeconds: 4 } }), enqueued(1, 1, {}), enqueued(2, 2, {}), claimed(3, 't1'), claimed(4, 't2'),
    happened(9, 'LimitOpened', { limit: 'type:mow' }),
  ]
  expect(folded(events).misfits).toEqual([])
  const part = await partOf(events, 't1', 9)
  expect(part.map(({ type }) => type)).toEqual(['LimitSet', 'TaskEnqueued', 'Claimed'])
  expect(folded(part).misfits).toEqual([])
})
