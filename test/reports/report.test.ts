/** EV-05: reports over random histories equal what a naive count finds, for any period, bucket and zone; and what they make of tenants and breakers. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReport, readReportRequest, type ReportParameters } from '@daybook/adapters/reports'
import type { QueueEvent } from '@daybook/core'
import { type Dimension, quarterMs, relativeError, type ReportName } from '@daybook/projections/reports'
import * as E from 'fp-ts/lib/Either.js'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scenarios } from '../properties/steps.js'
import { World } from '../properties/world.js'
import { accountOf, valueOf } from '../read-models/account.js'
import { openViews, queue, recorded } from '../read-models/views.js'

let dir = ''
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'daybook-reports-'))))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

type Row = Readonly<Record<string, string | number | null>>
interface Found {
  readonly rows: ReadonlyArray<Row>
  readonly from: string
  readonly to: string
  readonly revision: number
}

let files = 0
const fileOf = (log: ReadonlyArray<QueueEvent>): string => {
  const file = join(dir, `views-${files++}.db`)
  const views = openViews(file)
  views.beginFirstBuilds([])
  views.current.take(queue, recorded(log))
  views.close()
  return file
}
const now = Date.UTC(2030, 0, 1)
const textOf = (file: string, report: ReportName, parameters: ReportParameters, at = now): string => {
  const request = readReportRequest(queue, report, parameters, at)
  if (E.isLeft(request)) throw new Error(JSON.stringify(request.left))
  const answer = readReport(file, request.right)
  if (E.isLeft(answer)) throw new Error(answer.left.message)
  return answer.right.text
}
const reportOf = (file: string, report: ReportName, parameters: ReportParameters, at = now): Found => JSON.parse(textOf(file, report, parameters, at)) as Found

const iso = (at: number): string => new Date(at).toISOString()
const begin = Date.UTC(2023, 10, 14, 0, 0)
const histories = scenarios(80).map((scenario) => new World(() => ({})).run(scenario).log)
const quantile = (times: ReadonlyArray<number>, share: number): number => [...times].sort((a, b) => a - b)[Math.max(1, Math.ceil(share * times.length)) - 1] as number

describe('EV-05: reports over random histories', () => {
  test('figures are those of a naive count, by bucket and group', () => {
    fc.assert(
      fc.property(
        histories,
        fc.constantFrom<Dimension>('all', 'type', 'phase', 'tenant', 'agent', 'discovery'),
        fc.constantFrom('Europe/Berlin', 'America/New_York', 'Asia/Kathmandu', 'UTC'),
        fc.nat(96 * 2),
        (log, by, zone, cut) => {
          // The histories begin at 22:13 UTC on 14 November 2023.
          const from = begin + cut * quarterMs
          const to = begin + 400 * 86_400_000
          const file = fileOf(log)
          const { happenings, tasks } = accountOf(log)
          const day = new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' })
          const inside = happenings.filter(({ at }) => at >= from && at < to)
          const { rows } = reportOf(file, 'summary', { from: iso(from), to: iso(to), bucket: 'day', zone, by, top: '100' })
          const keys = new Set<string>()
          for (const row of rows) {
            const group = String(row[by] ?? '')
            const date = String(row.from).slice(0, 10)
            keys.add(`${date} ${group}`)
            const own = inside.filter(({ at, task, agent }) => day.format(at) === date && valueOf(task, by, agent) === group)
            const count = (...columns: ReadonlyArray<string>): number => own.filter(({ column }) => columns.includes(column)).length
            expect([row.enqueued, row.claimed, row.completed, row.failed, row.retried, row.deadLettered]).toEqual([count('enqueued', 'imported'), count('claimed'), count('completed'), count('failed', 'expired'), count('retried'), count('dead_lettered')])
            const waits = own.flatMap(({ wait }) => (wait === undefined ? [] : [wait]))
            const runs = own.flatMap(({ run }) => (run === undefined ? [] : [run]))
            for (const [name, share] of [['P50', 0.5], ['P95', 0.95], ['P99', 0.99]] as const) {
              for (const [of, times] of [['wait', waits], ['run', runs]] as const) {
                const told = row[`${of}${name}Seconds`]
                if (times.length === 0) expect(told).toBeNull()
                else expect(Math.abs(Number(told) * 1_000 - quantile(times, share))).toBeLessThanOrEqual(relativeError * quantile(times, share) + 1e-6)
              }
            }
            const due = tasks.filter(({ facts, stage, finishedAt }) => {
              const { deadlineAt } = facts
              return typeof deadlineAt === 'number' && deadlineAt >= from && deadlineAt < to && day.format(deadlineAt) === date && !(stage === 'cancelled' && finishedAt <= deadlineAt)
            }).filter((task) => valueOf(task, by, '') === group)
            // A deadline belongs to no agent.
            expect([row.deadlines, row.deadlinesMet]).toEqual(by === 'agent' ? [null, null] : [due.length, due.filter(({ facts, stage, finishedAt }) => stage === 'completed' && finishedAt <= Number(facts.deadlineAt)).length])
          }
          for (const { at, task, agent } of inside) expect(keys).toContain(`${day.format(at)} ${valueOf(task, by, agent)}`)
          if (by === 'all') expect(rows).toHaveLength(keys.size)
        },
      ),
      { numRuns: 25 },
    )
  })

  test('failures by signature are all failures; the largest groups are told one by one, and the others added up', () => {
    fc.assert(
      fc.property(histories, fc.constantFrom('1', '2', '3'), (log, top) => {
        const file = fileOf(log)
        const period = { from: iso(begin), to: iso(begin + 400 * 86_400_000), bucket: 'total' }
        const { happenings } = accountOf(log)
        const failed = happenings.filter(({ signature, at }) => signature !== undefined && at < begin + 400 * 86_400_000)
        const told = reportOf(file, 'failures', { ...period, top }).rows
        expect(told.reduce((sum, row) => sum + Number(row.failures), 0)).toBe(failed.length)
        const signatures = new Set(failed.map(({ signature }) => signature))
        const others = Math.max(0, signatures.size - Number(top))
        expect(told.map(({ others: n }) => n ?? 0)).toEqual([...Array.from({ length: Math.min(signatures.size, Number(top)) }, () => 0), ...(others > 0 ? [others] : [])])
        for (const column of ['enqueued', 'claimed', 'completed']) {
          const sum = (rows: ReadonlyArray<Row>): number => rows.reduce((all, row) => all + Number(row[column]), 0)
          expect(sum(reportOf(file, 'throughput', { ...period, by: 'type', top }).rows)).toBe(sum(reportOf(file, 'throughput', period).rows))
        }
      }),
      { numRuns: 15 },
    )
  })
})

const at = (minutes: number): number => Date.UTC(2026, 9, 25, 0, 0) + minutes * 60_000
let number = 0
const enqueued = (minutes: number, more: object = {}): QueueEvent => {
  number++
  return { type: 'TaskEnqueued', at: at(minutes), data: { task: `t${number}`, number, type: 'mow', priority: 5, idempotencyKey: `k${number}`, timeout: 60, maxRetries: 3, backoffSeconds: 1, ...more } } as QueueEvent
}
const claimed = (minutes: number, task: number): QueueEvent => ({ type: 'Claimed', at: at(minutes), data: { task: `t${task}`, agent: 'bob', token: task, expiresAt: at(minutes + 60) } }) as QueueEvent
beforeEach(() => void (number = 0))

describe('EV-05: shares of tenants', () => {
  const weights = (minutes: number, tenants: object): QueueEvent => ({ type: 'QueueConfigured', at: at(minutes), data: { patch: { assignment: { tenants } } } }) as QueueEvent
  const many = (tenant: string, count: number): ReadonlyArray<QueueEvent> => Array.from({ length: count }, () => enqueued(-5, { tenant }))

  test('claims are compared with weights in quarters in which tenants had ready tasks throughout', () => {
    const log = [
      weights(-10, { acme: 3 }), ...many('acme', 9), ...many('zen', 9), ...many('brief', 1),
      // 00:00 to 00:15: three for acme, one for zen, as their weights are; `brief` runs out.
      ...[1, 2, 3, 10, 19].map((task, i) => claimed(1 + i, task)),
      // 00:15 to 00:30, with equal weights from then on: acme gets all.
      weights(15, { acme: null }), ...[4, 5, 6, 7].map((task, i) => claimed(16 + i, task)),
      enqueued(44),
    ]
    const file = fileOf(log)
    const of = (from: number, to: number, more: ReportParameters = {}) => reportOf(file, 'fairness', { from: iso(at(from)), to: iso(at(to)), ...more }, at(45)).rows
    const shown = (rows: ReadonlyArray<Row>) => rows.map(({ tenant, weight, claimed: claims, due, got, ratio, jain }) => [tenant, weight, claims, due, got, ratio, jain])
    expect(shown(of(0, 15))).toEqual([['acme', 3, 3, 3, 3, 1, 1], ['zen', 1, 1, 1, 1, 1, 1], ['brief', 1, 1, 0, 0, null, 1]])
    expect(shown(of(15, 30))).toEqual([['acme', 1, 4, 2, 4, 2, 0.5], ['zen', 1, 0, 2, 0, 0, 0.5]])
    expect(shown(of(0, 45))).toEqual([['acme', 1, 7, 5, 7, 1.4, 0.725322], ['zen', 1, 1, 3, 1, 0.333333, 0.725322], ['brief', 1, 1, 0, 0, null, 0.725322]])
    expect(of(0, 30, { bucket: '15' })).toHaveLength(5)
    // A quarter that is not over is not compared.
    expect(shown(reportOf(file, 'fairness', { from: iso(at(15)), to: iso(at(30)) }, at(29)).rows).map(([, , , due]) => due)).toEqual([0])
  })
})

describe('EV-05: the timeline of breakers', () => {
  const breaker = (type: string, minutes: number, more: object = {}): QueueEvent => ({ type, at: at(minutes), data: { taskType: 'mow', ...more } }) as QueueEvent
  test('is cut to the period, with causes and reasons; what goes on has no end', () => {
    const file = fileOf([
      breaker('BreakerOpened', 10, { cause: 'threshold' }), breaker('BreakerHalfOpened', 20), breaker('BreakerClosed', 30, { cause: 'probe-succeeded' }),
      breaker('BreakerOpened', 100, { cause: 'manual', reason: 'no network' }),
    ])
    const { rows } = reportOf(file, 'breakers', { from: iso(at(15)), to: iso(at(120)), zone: 'Europe/Berlin' }, at(110))
    expect(rows.map(({ type, state, from, to, seconds, cause, reason }) => [type, state, from, to, seconds, cause, reason])).toEqual([
      ['mow', 'open', '2026-10-25T02:15:00+02:00', '2026-10-25T02:20:00+02:00', 300, 'threshold', null],
      ['mow', 'half-open', '2026-10-25T02:20:00+02:00', '2026-10-25T02:30:00+02:00', 600, null, null],
      ['mow', 'closed', '2026-10-25T02:30:00+02:00', '2026-10-25T02:40:00+01:00', 4_200, 'probe-succeeded', null],
      ['mow', 'open', '2026-10-25T02:40:00+01:00', null, 600, 'manual', 'no network'],
    ])
  })

  test('does not reach into a time that has not come', () => {
    const file = fileOf([{ type: 'BreakerOpened', at: at(10), data: { taskType: 'mow', cause: 'manual' } }])
    const told = (from: number, now: number): ReadonlyArray<Row> => reportOf(file, 'breakers', { from: iso(at(from)), to: iso(at(120)) }, at(now)).rows
    expect(told(60, 60)).toEqual([])
    expect(told(60, 30)).toEqual([])
    expect(told(60, 61)).toMatchObject([{ type: 'mow', state: 'open', seconds: 60, to: null }])
    // One that has just begun is told.
    expect(told(0, 10)).toMatchObject([{ type: 'mow', state: 'open', seconds: 0, to: null }])
  })

  test('ends when the queue is deleted, which forgets its breakers', () => {
    const file = fileOf([
      breaker('BreakerOpened', 10, { cause: 'threshold' }), breaker('BreakerOpened', 11, { cause: 'threshold', taskType: 'dig' }), breaker('BreakerOpened', 12, { cause: 'threshold', taskType: 'rake' }),
      // From the middle of those that are open.
      breaker('BreakerClosed', 13, { cause: 'manual', taskType: 'dig' }),
      { type: 'QueueDeleted', at: at(20), data: { reason: 'bye' } }, { type: 'QueueDeleted', at: at(25), data: { reason: 'again' } },
    ])
    const { rows } = reportOf(file, 'breakers', { from: iso(at(15)), to: iso(at(120)) }, at(110))
    expect(rows.map(({ type, state, seconds, cause, reason, to }) => [type, state, seconds, cause, reason, to === null])).toEqual([
      ['mow', 'open', 300, 'threshold', null, false], ['rake', 'open', 300, 'threshold', null, false], ['dig', 'closed', 5_700, 'manual', null, true],
      ['mow', 'closed', 5_400, 'deleted', 'bye', true], ['rake', 'closed', 5_400, 'deleted', 'bye', true],
    ])
  })
})

describe('EV-05: what is asked', () => {
  test('groups of imported tasks have rows of their own before smaller groups', () => {
    const imported = (more: object): QueueEvent => ({ ...enqueued(1, { status: 'completed', createdAt: 0, retries: 0, ...more }), type: 'TaskImported' }) as QueueEvent
    const file = fileOf([enqueued(0, { type: 'few' }), ...Array.from({ length: 3 }, () => imported({ type: 'many' }))])
    expect(reportOf(file, 'throughput', { from: iso(at(0)), to: iso(at(60)), by: 'type', top: '1', bucket: 'total' }).rows).toMatchObject([{ type: 'many', enqueued: 3 }, { type: null, others: 1, enqueued: 1 }])
  })

  test('a day is that of the zone, also where it has 25 hours; quarters are whole', () => {
    const file = fileOf([enqueued(-125), enqueued(-120), enqueued(1_379), enqueued(1_380)])
    const { rows, from, to } = reportOf(file, 'throughput', { from: '2026-10-25', to: '2026-10-26', zone: 'Europe/Berlin', bucket: 'day' })
    expect([from, to]).toEqual(['2026-10-25T00:00:00+02:00', '2026-10-26T00:00:00+01:00'])
    expect(rows).toMatchObject([{ from, to, enqueued: 2, enqueuedPerHour: 0.08 }])
    expect(reportOf(file, 'throughput', { from: '2026-10-24', to: '2026-10-27', zone: 'Europe/Berlin', bucket: 'day' }).rows.map(({ enqueued: count }) => count)).toEqual([1, 2, 1])
    expect(reportOf(file, 'throughput', { from: iso(at(-121)), to: iso(at(1)), bucket: 'total' })).toMatchObject({ from: '2026-10-24T21:45:00+00:00', to: '2026-10-25T00:15:00+00:00' })
  })

  test.each([
    [{ zone: 'Mars/Olympus' }, 'zone', 'is not a time zone'],
    [{ from: '2026-02-30' }, 'from', 'must be a time that exists'],
    [{ from: '2026-10-26', to: '2026-10-25' }, 'from', 'must be before to'],
    [{ from: '1990-01-01' }, 'from', 'at most 20 years'],
    [{ from: '9999-12-01', to: '9999-12-31T00:00:00.001Z' }, 'to', 'must be at most 9999-12-31T00:00:00.000Z'],
    [{ bucket: '7' }, 'bucket', 'divides a day'],
    [{ by: 'colour' }, 'by', 'must be one of all, type'],
    [{ top: '0' }, 'top', 'from 1 to 1000'],
    [{ format: 'pdf' }, 'format', 'must be one of json, csv, svg'],
  ])('%o is refused', (parameters, path, message) => {
    expect(readReportRequest('q', 'throughput', parameters, now)).toEqual(E.left([{ path, message: expect.stringContaining(message) }]))
  })

  test.each(['total', 'month', 'week', 'day', 'hour'])('the last period that is accepted ends in a year of four digits in every zone, by %s', (bucket) => {
    for (const [zone, end] of [['Pacific/Kiritimati', '9999-12-31T14:00:00+14:00'], ['Etc/GMT+12', '9999-12-30T12:00:00-12:00']] as const) {
      const { to, rows } = reportOf(fileOf([]), 'throughput', { from: '9999-12-20', to: '9999-12-31T00:00:00Z', bucket, zone })
      expect([to, rows.at(-1)?.to]).toEqual([end, end])
    }
  })

  test('parameters without a meaning are refused, and too many buckets', () => {
    expect(readReportRequest('q', 'breakers', { bucket: 'day' }, now)).toMatchObject({ left: [{ path: 'bucket' }] })
    expect(readReportRequest('q', 'fairness', { by: 'type' }, now)).toMatchObject({ left: [{ path: 'by' }] })
    expect(readReportRequest('q', 'deadlines', { by: 'agent' }, now)).toMatchObject({ left: [{ path: 'by' }] })
    const request = readReportRequest('q', 'throughput', { from: '2020-01-01', bucket: '15' }, now)
    expect(E.isRight(request) && readReport(fileOf([]), request.right)).toMatchObject({ left: { kind: 'invalid', message: expect.stringContaining('at most 10000 buckets') } })
  })
})
