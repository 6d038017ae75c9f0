/** EV-06: an export of the log, with its manifest, and its replay elsewhere. */
import { createHash } from 'node:crypto'
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { type RunningServer, serve } from '@daybook/adapters/serve'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Ended, runHere } from './program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-audit-files-'))
const dataDir = join(dir, 'data')
const token = 'dbk_token-of-the-export-tests'
let server: RunningServer
let client: DaybookClient

beforeAll(async () => {
  server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file: join(dataDir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'tokens', token })
  client = createClient({ url: server.url, token, queue: 'q' })
  await client.settings.patch({ decisionReport: 'optional', breakers: { defaults: { failureThreshold: 1 } } })
  await client.enqueueAll([
    { id: 'base', type: 'build', payload: { secret: 'é"\n' } }, { id: 'site', type: 'build', payload: 1, dependencies: ['base'] },
    { id: 'other', type: 'mail', payload: 2, maxRetries: 1 }, { id: 'last', type: 'mail', payload: 3 },
  ])
  const claims = await client.claim({ agentId: 'w', max: 10 })
  for (const { task, lease } of claims) {
    if (task.id === 'base') await client.complete('base', { agentId: 'w', token: lease.token, result: { output: 1 } })
    if (task.id === 'other') await client.fail('other', { agentId: 'w', token: lease.token, error: 'no such mailbox' })
  }
  await client.cancel('site', 'not needed')
})
afterAll(async () => {
  await client.close()
  await server.close()
  rmSync(dir, { recursive: true, force: true })
})

const audit = (...args: ReadonlyArray<string>): Promise<Ended> => runHere(['audit', ...args], { DAYBOOK_URL: server.url, DAYBOOK_TOKEN: token, DAYBOOK_QUEUE: 'q', NO_COLOR: '1' })
const file = (name: string): string => join(dir, name)
const linesOf = (name: string): ReadonlyArray<string> => readFileSync(file(name), 'utf8').trimEnd().split('\n')

interface Replayed {
  readonly steps: ReadonlyArray<{ readonly revision: number; readonly type: string; readonly task?: string; readonly before?: string; readonly after?: string; readonly breaker?: { readonly after: string }; readonly isMisfit: boolean }>
  readonly result: { readonly ok: boolean; readonly events: number; readonly misfits: number; readonly unreadable: number }
}
const replayed = async (name: string, ...args: ReadonlyArray<string>): Promise<Replayed> => JSON.parse((await audit('replay', file(name), '--json', ...args)).out) as Replayed

test('EV-06: the whole log, with a manifest; a replay folds it to what the server showed, and says what each event did', async () => {
  expect(await audit('export', '--out', file('all.ndjson'))).toMatchObject({ code: 0, out: expect.stringContaining('events in') })
  const lines = linesOf('all.ndjson')
  const { revision, counts } = await client.state()
  const { manifest } = JSON.parse(lines[lines.length - 1] as string) as { readonly manifest: object }
  expect(manifest).toMatchObject({ format: 1, queue: 'q', from: 0, to: revision, events: revision + 1, settings: await client.settings.get(), byStatus: counts.byStatus })
  const { steps, result } = await replayed('all.ndjson')
  expect(result).toMatchObject({ ok: true, events: revision + 1, misfits: 0, unreadable: 0 })
  expect(steps).toHaveLength(revision + 1)
  expect(steps.filter(({ task }) => task === 'base').map(({ before, after }) => [before, after])).toEqual([[undefined, 'pending'], ['pending', 'in-progress'], ['in-progress', 'completed']])
  expect(steps.find(({ type }) => type === 'BreakerOpened')?.breaker?.after).toMatch(/^open/)
  const people = (await audit('replay', file('all.ndjson'), '--task', 'site')).out
  expect(people).toMatch(/Cancelled +admin +site +pending → cancelled/)
  expect(people).toContain('as the manifest says')
})

test('EV-06: an export of the log without a server is the same, byte for byte', async () => {
  expect(await audit('export', '--out', file('server.ndjson'), '--revision', '9')).toMatchObject({ code: 0 })
  const offline = await runHere(['audit', 'export', '--data', dataDir, '--queue', 'q', '--revision', '9'])
  expect(offline.out).toBe(readFileSync(file('server.ndjson'), 'utf8'))
  expect((await replayed('server.ndjson')).result).toMatchObject({ ok: true, events: 10 })
})

test('EV-06: what concerns one task is a bug report that folds elsewhere: the task goes through the same statuses', async () => {
  await audit('export', '--out', file('site.ndjson'), '--task', 'site')
  await audit('export', '--out', file('whole.ndjson'))
  const [part, whole] = [await replayed('site.ndjson'), await replayed('whole.ndjson')]
  // Its number is higher than the number of events in its part.
  await audit('export', '--out', file('last.ndjson'), '--task', 'last')
  const { steps, result } = await replayed('last.ndjson')
  expect(result).toMatchObject({ ok: true, misfits: 0 })
  expect(steps.filter(({ task }) => task === 'last').map(({ before, after }) => [before, after])).toEqual([[undefined, 'pending'], ['pending', 'in-progress']])
  const ids = new Set(part.steps.map(({ task }) => task))
  expect([...ids].sort()).toEqual(['base', 'site', undefined])
  expect(part.result).toMatchObject({ ok: true, misfits: 0 })
  for (const id of ['base', 'site']) {
    const course = ({ steps }: Replayed) => steps.filter(({ task }) => task === id).map(({ type, before, after }) => [type, before, after])
    expect(course(part)).toEqual(course(whole))
    expect(course(part).length).toBeGreaterThan(1)
  }
  expect(await audit('export', '--task', 'nobody')).toMatchObject({ code: 1, err: expect.stringContaining('nobody') })
})

test('EV-06: an export that was altered, cut short, or does not fold to its manifest is refused', async () => {
  await audit('export', '--out', file('good.ndjson'))
  const lines = linesOf('good.ndjson')
  const write = (name: string, changed: ReadonlyArray<string>): void => writeFileSync(file(name), `${changed.join('\n')}\n`)
  write('altered.ndjson', lines.map((line, i) => (i === 1 ? line.replace('"base"', '"bass"') : line)))
  write('missing.ndjson', lines.filter((_, i) => i !== 2))
  write('cut.ndjson', lines.slice(0, -1))
  writeFileSync(file('half.ndjson'), readFileSync(file('good.ndjson'), 'utf8').slice(0, -(lines.at(-1)?.length ?? 0) - 20))
  write('swapped.ndjson', [lines[1] as string, lines[0] as string, ...lines.slice(2)])
  write('other.ndjson', lines.map((line) => line.replace('"dead-letter":1', '"dead-letter":2')))
  // What comes after the manifest is not in its hash.
  write('longer.ndjson', [...lines, lines[2] as string])
  write('text-after.ndjson', [...lines, 'no json'])
  write('two.ndjson', [...lines, lines.at(-1) as string])
  write('blank.ndjson', [...lines, '', ' '])
  expect(await audit('replay', file('blank.ndjson'), '--quiet')).toMatchObject({ code: 0 })
  for (const name of ['longer', 'text-after', 'two']) {
    expect(await audit('replay', file(`${name}.ndjson`), '--quiet'), name).toMatchObject({ code: 1, err: expect.stringContaining('there is more after its manifest') })
  }
  for (const [name, why] of [['altered', 'the hash is another one'], ['missing', 'its manifest says'], ['cut', 'it is cut short'], ['half', 'it ends in the middle, so it is cut short'], ['swapped', 'comes after']] as const) {
    expect(await audit('replay', file(`${name}.ndjson`), '--quiet'), name).toMatchObject({ code: 1, err: expect.stringContaining(why) })
  }
  expect(await audit('replay', file('other.ndjson'), '--quiet')).toMatchObject({ code: 1, out: expect.stringContaining('it folds to') })
  appendFileSync(file('cut.ndjson'), 'no json\n')
  expect(await audit('replay', file('cut.ndjson'))).toMatchObject({ code: 1, err: expect.stringContaining('no JSON') })
  appendFileSync(file('cut.ndjson'), 'nor this\n')
  expect((await audit('replay', file('cut.ndjson'))).err).not.toContain('cut short')
  await audit('export', '--format', 'parquet', '--out', file('table.parquet'))
  expect(await audit('replay', file('table.parquet'))).toMatchObject({ code: 1, err: expect.stringContaining('--format ndjson') })
  // Files that other programs wrote.
  const line = JSON.stringify({ revision: 0, type: 'NeverHeardOf', at: '2026-07-01T00:00:00.000Z', data: null })
  const manifest = { format: 1, queue: 'q', from: 0, to: 0, events: 1, sha256: createHash('sha256').update(`${line}\n`).digest('hex'), settings: {}, byStatus: {} }
  for (const [text, why] of [
    ['{"manifest":null}', 'its last line is no manifest'],
    ['{"revision":0,"type":"X","at":"2026-07-01T00:00:00.000Z"}', 'line 1 is not an event'],
    [`${line}\n${JSON.stringify({ manifest: { ...manifest, byStatus: undefined } })}`, 'byStatus is missing'],
  ] as const) {
    writeFileSync(file('foreign.ndjson'), `${text}\n`)
    expect(await audit('replay', file('foreign.ndjson')), text).toMatchObject({ code: 1, err: expect.stringContaining(why) })
  }
  writeFileSync(file('foreign.ndjson'), `${line}\n${JSON.stringify({ manifest })}\n`)
  expect((await audit('replay', file('foreign.ndjson'))).out).toContain('1 event, 0 misfits, 1 unreadable')
  expect(await audit('replay', file('nowhere.ndjson'))).toMatchObject({ code: 1, err: expect.stringContaining('cannot be read') })
  expect(await audit('export', '--out', file('good.ndjson'))).toMatchObject({ code: 1, err: expect.stringContaining('is there already') })
})

interface Exported {
  readonly events: ReadonlyArray<object>
  readonly manifest: unknown
}
/** Read by a reader that Daybook does not use. */
const parquetOf = async (name: string): Promise<Exported & { readonly groups: number }> => {
  const bytes = readFileSync(file(name))
  const input = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer
  const { key_value_metadata: pairs = [], row_groups: groups } = parquetMetadata(input)
  const rows = await parquetReadObjects({ file: input })
  const events = rows.map(({ revision, schemaVersion, at, data, ...rest }) => ({
    revision: Number(revision), schemaVersion: Number(schemaVersion), at: (at as Date).toISOString(), data: JSON.parse(String(data)) as unknown, ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== null)),
  }))
  return { events, manifest: JSON.parse(pairs.find(({ key }) => key === 'daybook.manifest')?.value ?? 'null'), groups: groups.length }
}
const ndjsonOf = (name: string): Exported => {
  const lines = linesOf(name).map((line) => JSON.parse(line) as { readonly manifest?: unknown })
  return { events: lines.slice(0, -1), manifest: lines[lines.length - 1]?.manifest }
}

test('EV-06: a Parquet file has the same events and the same manifest as the lines of JSON', async () => {
  expect(await audit('export', '--format', 'parquet', '--out', file('all.parquet'))).toMatchObject({ code: 0, out: expect.stringContaining('events in') })
  expect(await audit('export', '--out', file('same.ndjson'))).toMatchObject({ code: 0 })
  const { groups, ...found } = await parquetOf('all.parquet')
  expect(found).toEqual(ndjsonOf('same.ndjson'))
  expect(groups).toBe(1)
  expect(found.events.length).toBeGreaterThan(8)
  await audit('export', '--format', 'parquet', '--task', 'site', '--out', file('site.parquet'))
  await audit('export', '--task', 'site', '--out', file('site.ndjson'))
  const { groups: _, ...ofTask } = await parquetOf('site.parquet')
  expect(ofTask).toEqual(ndjsonOf('site.ndjson'))
  expect(ofTask.events.length).toBeLessThan(found.events.length)
})

test('EV-06: large contents are in several row groups', async () => {
  const payload = (i: number): string => String.fromCharCode(97 + (i % 26)).repeat(200_000)
  const large = client.in('large')
  for (let i = 0; i < 100; i += 10) await large.enqueueAll(Array.from({ length: 10 }, (_, j) => ({ id: `l${i + j}`, type: 'build', payload: `${i + j} ${payload(i + j)}` })))
  await audit('--queue', 'large', 'export', '--format', 'parquet', '--out', file('large.parquet'))
  await audit('--queue', 'large', 'export', '--out', file('large.ndjson'))
  const { groups, ...found } = await parquetOf('large.parquet')
  expect(groups).toBe(2)
  expect(found).toEqual(ndjsonOf('large.ndjson'))
})

test('EV-06: a Parquet file is written to a new file only, and no other format is known', async () => {
  expect(await audit('export', '--format', 'parquet')).toMatchObject({ code: 2, err: expect.stringContaining('--out') })
  writeFileSync(file('there.parquet'), 'evidence')
  expect(await audit('export', '--format', 'parquet', '--out', file('there.parquet'))).toMatchObject({ code: 1, err: expect.stringContaining('is there already') })
  expect(readFileSync(file('there.parquet'), 'utf8')).toBe('evidence')
  expect(await audit('export', '--format', 'csv')).toMatchObject({ code: 2, err: expect.stringContaining('one of ndjson, parquet is wanted') })
})

describe.each(['ndjson', 'parquet'])('EV-06: an export to a file, %s', (format) => {
  /** Exports, and calls `meanwhile` once the file is begun. */
  const exportTo = (name: string, meanwhile: (signal: (name: NodeJS.Signals) => void) => void): Promise<Ended> => {
    let signal: (name: NodeJS.Signals) => void = () => undefined
    return runHere(['audit', 'export', '--data', dataDir, '--queue', 'q', '--format', format, '--out', file(name)], {}, '', {
      errIsTerminal: true,
      err: (text) => {
        if (text.includes('exporting: revision')) meanwhile(signal)
      },
      onSignal: (heard) => {
        signal = heard
        return () => undefined
      },
    })
  }
  const named = (name: string): ReadonlyArray<string> => readdirSync(dir).filter((each) => each.startsWith(name))

  test.each(['SIGINT', 'SIGTERM'] as const)('%s ends it with code 130, and nothing is left', async (signal) => {
    const name = `${signal}.${format}`
    let begun: ReadonlyArray<string> = []
    const { code } = await exportTo(name, (send) => {
      begun = named(name)
      send(signal)
    })
    expect(begun).toEqual([expect.stringMatching(/\.unfinished-[0-9a-f]{8}$/)])
    expect([code, named(name)]).toEqual([130, []])
    expect((await exportTo(name, () => undefined)).code).toBe(0)
    expect(named(name)).toEqual([name])
  })

  test('a failure leaves nothing, and a file that came meanwhile is not overwritten', async () => {
    const name = `meanwhile.${format}`
    const { code } = await exportTo(name, () => writeFileSync(file(name), 'evidence'))
    expect([code, named(name)]).toEqual([1, [name]])
    expect(readFileSync(file(name), 'utf8')).toBe('evidence')
  })
})

interface SaidSettings {
  tenants?: string
  decisionReport: string
  readonly score: Record<string, number>
  readonly breakers: { readonly defaults: Record<string, unknown> }
}

test('EV-06: an export of a version that knew fewer settings, or more, is replayed; one whose settings are others is refused', async () => {
  await audit('export', '--out', file('now.ndjson'))
  const lines = linesOf('now.ndjson')
  const { manifest } = JSON.parse(lines.at(-1) as string)
  const outcome = async (name: string, change: (settings: SaidSettings) => void): Promise<Ended> => {
    const settings = structuredClone(manifest.settings) as SaidSettings
    change(settings)
    writeFileSync(file(name), `${[...lines.slice(0, -1), JSON.stringify({ manifest: { ...manifest, settings } })].join('\n')}\n`)
    return audit('replay', file(name), '--quiet')
  }
  const older = await outcome('older.ndjson', (settings) => {
    delete settings.tenants
    delete settings.score.starvationFloor
  })
  expect(older, older.out).toMatchObject({ code: 0, out: expect.stringContaining('as the manifest says') })
  expect(await outcome('newer.ndjson', (settings) => Object.assign(settings.score, { ofTomorrow: 1 }))).toMatchObject({ code: 0 })
  const others: ReadonlyArray<readonly [string, (settings: SaidSettings) => void]> = [
    ['deep.ndjson', ({ breakers }) => (breakers.defaults.failureThreshold = 2)],
    ['absent.ndjson', ({ breakers }) => delete breakers.defaults.failureThreshold],
    ['top.ndjson', (settings) => (settings.decisionReport = 'required')],
  ]
  for (const [name, change] of others) expect(await outcome(name, change), name).toMatchObject({ code: 1, out: expect.stringContaining('other settings') })
})
