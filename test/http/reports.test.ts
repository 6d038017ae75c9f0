/** EV-05 over HTTP, through the client, and on the command line. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DaybookClient, type ReportBucket, type ReportName, type ReportRows } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { SaxesParser } from 'saxes'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runHere as run } from '../cli/program.js'
import { until } from '../support/queue.js'
import { startTestServer } from './support.js'

let dir = ''
let server: Awaited<ReturnType<typeof serve>>
let client: DaybookClient
let revision = 0
const views = (): string => join(dir, 'views.db')
const evil = '=HYPERLINK("http://evil.example","x")'

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'daybook-reports-http-'))
  server = await serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'log.db'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' } })
  client = createClient({ url: server.url })
  const tenants = ['acme', evil, '<script>alert(1)</script>']
  for (const [i, tenant] of tenants.entries()) {
    await client.enqueue({ id: `a${i}`, type: 'mow', tenant, phase: 'TESTING', payload: i, maxRetries: 1, deadlineAt: new Date(Date.now() + 3_600_000) })
    await client.enqueue({ id: `b${i}`, type: 'sow', tenant, payload: i, maxRetries: 2, backoffSeconds: 3_600 })
  }
  const claims = await client.claim({ agentId: 'bob', max: 6 })
  for (const { task: { id, type }, lease: { token } } of claims) {
    if (type === 'mow') await client.complete(id, { agentId: 'bob', token, result: { decisionReport: 'done' } })
    else await client.fail(id, { agentId: 'bob', token, error: 'connection refused' })
  }
  await client.breakers.open('mow', 'no network')
  revision = server.daybook.queue('default')?.status().revision ?? 0
})
afterAll(async () => {
  await client.close()
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

const get = async (path: string): Promise<{ status: number; type: string | null; revision: string | null; text: string }> => {
  const answer = await fetch(`${server.url}/api/queues/default/reports/${path}`)
  return { status: answer.status, type: answer.headers.get('content-type'), revision: answer.headers.get('x-daybook-revision'), text: await answer.text() }
}
/** Around now, whatever the hour. */
const to = new Date(Date.now() + 7_200_000)
const from = new Date(Date.now() - 86_400_000)

/** A member that a type has and this has not, or the other way round, does not compile. */
const members: { readonly [Name in ReportName]: Readonly<Record<Name extends 'breakers' ? keyof ReportRows[Name] : Exclude<keyof ReportRows[Name], keyof ReportBucket>, 1>> } = {
  summary: { enqueued: 1, claimed: 1, completed: 1, failed: 1, retried: 1, deadLettered: 1, waitP50Seconds: 1, waitP95Seconds: 1, waitP99Seconds: 1, runP50Seconds: 1, runP95Seconds: 1, runP99Seconds: 1, deadlines: 1, deadlinesMet: 1 },
  throughput: { enqueued: 1, claimed: 1, completed: 1, deadLettered: 1, cancelled: 1, enqueuedPerHour: 1, completedPerHour: 1 },
  latency: { claimed: 1, waitMeanSeconds: 1, waitP50Seconds: 1, waitP95Seconds: 1, waitP99Seconds: 1, ended: 1, runMeanSeconds: 1, runP50Seconds: 1, runP95Seconds: 1, runP99Seconds: 1 },
  retries: { claimed: 1, failed: 1, retried: 1, retryShare: 1, deadLettered: 1, rateLimited: 1 },
  deadlines: { deadlines: 1, deadlinesMet: 1, metShare: 1 },
  failures: { signature: 1, failures: 1, error: 1 },
  breakers: { type: 1, state: 1, from: 1, to: 1, seconds: 1, cause: 1, reason: 1 },
  fairness: { weight: 1, claimed: 1, claimedShare: 1, due: 1, got: 1, ratio: 1, jain: 1 },
}

describe('EV-05: reports over HTTP', () => {
  test('figures of the period, up to the revision that was waited for', async () => {
    const report = await client.report('summary', { from, to, zone: 'Asia/Kathmandu', by: 'type', atLeast: revision })
    expect(report).toMatchObject({ report: 'summary', queue: 'default', revision, behind: 0, zone: 'Asia/Kathmandu', bucket: 'total', by: 'type', relativeError: 0.01 })
    expect(report.from).toMatch(/\+05:45$/)
    expect(report.rows.map(({ type, enqueued, claimed, completed, failed, retried, deadLettered, deadlines, deadlinesMet }) => [type, enqueued, claimed, completed, failed, retried, deadLettered, deadlines, deadlinesMet]).sort()).toEqual([
      ['mow', 3, 3, 3, 0, 0, 0, 3, 3],
      ['sow', 3, 3, 0, 3, 3, 0, 0, 0],
    ])
    expect(report.rows.every(({ waitP99Seconds, runP50Seconds }) => Number(waitP99Seconds) >= 0 && Number(runP50Seconds) >= 0)).toBe(true)
  })

  test('TQM-OBS-003: retries by phase and by kind of discovery', async () => {
    const byPhase = await client.report('retries', { from, to, bucket: 'total', by: 'phase', atLeast: revision })
    expect(byPhase.rows.map(({ phase, claimed, retried, retryShare }) => [phase, claimed, retried, retryShare]).sort()).toEqual([[null, 3, 3, 1], ['TESTING', 3, 0, 0]])
    expect((await client.report('retries', { from, to, bucket: 'total', by: 'discovery' })).rows).toMatchObject([{ discovery: null, claimed: 6, retried: 3, retryShare: 0.5 }])
  })

  test('all reports, in all formats', async () => {
    for (const name of ['summary', 'throughput', 'latency', 'retries', 'deadlines', 'failures', 'breakers', 'fairness'] as const) {
      const report = await client.report(name, { from, to, atLeast: revision })
      expect(report.rows.length, name).toBeGreaterThan(0)
      const csv = await client.reportText(name, 'csv', { from, to })
      expect(csv.split('\r\n').length, name).toBe(report.rows.length + 2)
      const svg = await client.reportText(name, 'svg', { from, to })
      const parser = new SaxesParser()
      parser.on('error', (error) => {
        throw error
      })
      parser.write(svg).close()
      expect(svg).not.toMatch(/NaN|Infinity|undefined|<script/)
    }
    expect((await client.report('failures', { from, to })).rows).toMatchObject([{ error: 'connection refused', failures: 3 }])
    expect((await client.report('breakers', { from, to })).rows).toMatchObject([{ type: 'mow', state: 'open', to: null, cause: 'manual', reason: 'no network' }])
  })

  test('the rows of each report have the members of its type, and no others', async () => {
    for (const name of Object.keys(members) as ReadonlyArray<keyof typeof members>) {
      const { rows } = await client.report(name, { from, to, ...(name === 'breakers' ? {} : { bucket: 'total' }), atLeast: revision })
      const given = Object.keys(rows[0] ?? {}).filter((member) => name !== 'fairness' || member !== 'tenant')
      expect(given.sort(), name).toEqual([...(name === 'breakers' ? [] : ['from', 'to']), ...Object.keys(members[name])].sort())
    }
  })

  test('media types, and the revision', async () => {
    const csv = await get(`throughput?by=tenant&bucket=total&format=csv&from=${from.toISOString()}&to=${to.toISOString()}`)
    expect([csv.status, csv.type, csv.revision]).toEqual([200, 'text/csv; charset=utf-8', String(revision)])
    // No cell begins with a character that makes a spreadsheet calculate.
    expect(csv.text).toContain(`,"'${evil.replaceAll('"', '""')}",`)
    const svg = await get('throughput?by=tenant&format=svg')
    expect([svg.status, svg.type]).toEqual([200, 'image/svg+xml; charset=utf-8'])
    expect(svg.text).not.toContain('<script>')
  })

  test('a wrong question is refused with what is wrong', async () => {
    const problem = async (path: string): Promise<unknown> => {
      const { status, text } = await get(path)
      return { status, ...(JSON.parse(text) as object) }
    }
    expect(await problem('weather')).toMatchObject({ status: 404, code: 'not-found', detail: expect.stringContaining('throughput, latency') })
    expect(await problem('throughput?zone=Mars')).toMatchObject({ status: 400, errors: [{ path: 'query.zone' }] })
    expect(await problem('throughput?bucket=7')).toMatchObject({ status: 400, errors: [{ path: 'query.bucket' }] })
    expect(await problem('throughput?from=2026-02-30')).toMatchObject({ status: 400, errors: [{ path: 'query.from' }] })
    expect(await problem('throughput?from=2010-01-01&to=2026-01-01&bucket=15')).toMatchObject({ status: 400, errors: [{ path: 'query.bucket', message: expect.stringContaining('at most 10000') }] })
    expect(await problem('throughput?colour=red')).toMatchObject({ status: 400 })
  })

  test('a server whose tables cannot be kept says why, and what to do', async () => {
    const dataDir = join(dir, 'foreign')
    mkdirSync(dataDir)
    const options = { host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'off', memory: { kind: 'off' } } as const
    const other = new Database(join(dataDir, 'views.db'))
    other.exec('CREATE TABLE theirs (a)')
    other.close()
    for (const [what, spoil] of [['is no file of read models: move it away', () => undefined], ['move it away, it is built anew', () => writeFileSync(join(dataDir, 'views.db'), 'not a database, but long enough to be one'.repeat(40))]] as const) {
      spoil()
      const spoiled = await serve(options)
      await fetch(`${spoiled.url}/api/queues/default/tasks`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ tasks: [{ type: 'mow', payload: what }] }) })
      await until(async () => {
        const answer = await fetch(`${spoiled.url}/api/queues/default/reports/throughput`)
        return answer.status === 503 && ((await answer.json()) as { readonly detail: string }).detail.includes(what)
      })
      await spoiled.close()
    }
  })

  test('a server without read models says how to have them', async () => {
    const other = await serve({ host: '127.0.0.1', port: 0, dataDir: join(dir, 'other'), store: { kind: 'memory' }, auth: 'off', memory: { kind: 'off' } })
    const answer = await fetch(`${other.url}/api/queues/default/reports/throughput`)
    expect([answer.status, await answer.json()]).toMatchObject([409, { code: 'disabled', detail: expect.stringContaining('--read-models off') }])
    await other.close()
  })

  test('a server that has just started and has not opened its read models yet says so, and not that it keeps none', async () => {
    const starting = await startTestServer({ keepsReadModels: true })
    try {
      await starting.post('/api/queues/q/tasks', { type: 't' })
      for (const path of ['reports/summary', 'read-models']) {
        const { status, body } = await starting.get(`/api/queues/q/${path}`)
        expect([path, status, body]).toMatchObject([path, 503, { code: 'unavailable', detail: expect.stringContaining('is starting'), retryAfterSeconds: 1 }])
      }
    } finally {
      await starting.stop()
    }
  })
})

describe('EV-05: daybook report', () => {
  const here = { DAYBOOK_QUEUE: 'default', NO_COLOR: '1' }
  test('prints a table, CSV and JSON, draws a picture, and reads a file without a server', async () => {
    const period = ['--from', from.toISOString(), '--to', to.toISOString(), '--zone', 'Europe/Berlin']
    const served = await run(['report', 'throughput', '--by', 'type', '--bucket', 'total', '--at-least', String(revision), ...period, '--url', server.url], here)
    expect(served).toMatchObject({ code: 0 })
    expect(served.out).toMatch(/^throughput of default, .*Europe\/Berlin, up to revision \d+\ntype +enqueued +claimed +completed[^\n]*\n(mow|sow) +3 +3/)
    const offline = await run(['report', 'throughput', '--by', 'type', '--bucket', 'total', ...period, '--views', views()], here)
    expect(offline).toMatchObject({ code: 0, out: served.out })

    const json = await run(['report', 'summary', '--json', ...period, '--views', views()], here)
    expect(JSON.parse(json.out)).toMatchObject({ report: 'summary', revision, rows: [{ enqueued: 6, completed: 3, failed: 3 }] })
    const picture = join(dir, 'picture.svg')
    const csv = await run(['report', 'failures', '--csv', '--svg', picture, ...period, '--url', server.url], here)
    expect(csv.out).toMatch(/^from,to,signature,failures,error\r\n[^\r]*,3,connection refused\r\n$/)
    expect(readFileSync(picture, 'utf8')).toContain('Failures by signature')
  })

  test('on a narrow terminal figures are left out, and the times of the rows stay', async () => {
    const narrow = { outIsTerminal: true, columns: () => 80 }
    const { out } = await run(['report', 'throughput', '--bucket', 'hour', '--from', from.toISOString(), '--to', to.toISOString(), '--zone', 'UTC', '--views', views()], here, '', narrow)
    const rows = out.split('\n').filter((line) => /^20\d\d-/.test(line))
    expect(rows.length).toBeGreaterThan(1)
    for (const row of rows) expect(row).toMatch(/^20\d\d-\d\d-\d\d( \d\d:\d\d)? +\d/)
    expect(out).toMatch(/^from +enqueued/m)
  })

  test('says what is wrong', async () => {
    expect(await run(['report', 'weather'], here)).toMatchObject({ code: 2, err: expect.stringContaining('there is no report "weather"') })
    expect(await run(['report', '--zone', 'Mars', '--views', views()], here)).toMatchObject({ code: 2, err: expect.stringContaining('--zone "Mars" is not a time zone') })
    expect(await run(['report', '--views', views(), '--queue', 'typo'], here)).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/there is no queue typo in .*views\.db; --queue names one of: / ) })
    expect(await run(['report', '--views', join(dir, 'none.db')], here)).toMatchObject({ code: 1, err: expect.stringContaining('none.db cannot be read: it is not there') })
    // As in a folder that is read-only, SQLite cannot make the files that it needs beside the file.
    const alone = join(dir, 'alone.db')
    const whole = new Database(views(), { readonly: true })
    whole.prepare('VACUUM INTO ?').run(alone)
    whole.close()
    const copy = new Database(alone)
    copy.pragma('journal_mode = WAL')
    copy.close()
    symlinkSync(join(dir, 'none', 'shm'), `${alone}-shm`)
    expect(await run(['report', '--views', alone], here)).toMatchObject({ code: 1, err: expect.stringContaining('copy it from a folder that is read-only to one that is not') })
  })
})
