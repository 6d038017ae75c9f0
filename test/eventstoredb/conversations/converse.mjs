/**
 * Plays the scenarios with the unmodified client against a server, and writes one line of JSON per step. Values that differ
 * between runs (ids, times, log positions) get stable names, so that two servers can be compared line by line.
 *
 *     node converse.mjs --url 'esdb://127.0.0.1:2113?tls=false' --out FOLDER [--only NAME,NAME] [--recorded FOLDER]
 *
 * With `--recorded`, a subscription waits until it has received as much as in the recording, instead of only for a pause.
 */
import { createHash, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import * as esdb from '@eventstore/db-client'
import { scenarios } from './scenarios.mjs'

const { values: flag } = parseArgs({
  options: {
    url: { type: 'string', default: process.env.EVENTSTOREDB_URL ?? 'esdb://127.0.0.1:2113?tls=false' },
    out: { type: 'string', default: 'out' },
    only: { type: 'string' },
    recorded: { type: 'string' },
  },
})
const chosen = flag.only?.split(',') ?? Object.keys(scenarios)
/** A generous limit that is reached only on failure. */
const answerMsMax = 60_000

mkdirSync(flag.out, { recursive: true })
const sleep = (ms, value) => new Promise((done) => setTimeout(done, ms, value))
let failed = 0
{
  const client = esdb.EventStoreDBClient.connectionString(flag.url)
  try { await client.capabilities } catch (e) { console.error(`no server at ${flag.url}: ${e.message}`); process.exit(2) }
  await client.dispose()
}

for (const name of chosen) {
  const started = Date.now()
  const notes = []
  const client = esdb.EventStoreDBClient.connectionString(flag.url)
  const run = randomBytes(4).toString('hex')
  const ctx = context(client, run, notes, recordedOf(name))
  try { await scenarios[name](ctx) } catch (e) { failed++; notes.push({ step: 'SCENARIO FAILED', error: String(e?.stack ?? e) }) }
  await client.dispose()
  writeFileSync(join(flag.out, `${name}.jsonl`), lines(notes.map(stabiliser(run, ctx.labels))))
  console.error(`${name}: ${notes.length} steps, ${Date.now() - started} ms`)
}
process.exit(failed ? 1 : 0)

/** The steps of a recording, or none. */
function recordedOf(name) {
  const file = flag.recorded === undefined ? '' : join(flag.recorded, `${name}.jsonl`)
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n').map((line) => JSON.parse(line)) : []
}

function lines(list) { return list.map((o) => JSON.stringify(o)).join('\n') + '\n' }

/** The argument of a scenario: the client, and steps that record call and outcome. */
function context(client, run, notes, recorded) {
  const labels = new Map()
  const id = (label) => {
    const h = createHash('sha256').update(`${run}/${label}`).digest('hex')
    const uuid = `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-8${h.slice(17, 20)}-${h.slice(20, 32)}`
    labels.set(uuid, label)
    return uuid
  }
  const stream = (label) => `${label}-${run}`
  const event = (label, over = {}) => esdb.jsonEvent({ id: id(label), type: 'tested', data: { label }, ...over })
  async function step(what, call) {
    const note = { step: what }
    notes.push(note)
    try { note.result = shape(await Promise.race([call(), sleep(answerMsMax, 'no answer')])) } catch (e) { note.error = errorOf(e) }
    return note
  }
  const collect = async (reading) => { const list = []; for await (const e of reading) list.push(e); return list }
  return {
    client, esdb, id, stream, event, step, collect, sleep, labels, run, notes, ours: (r) => (r.event?.streamId ?? r.link?.streamId ?? '').includes(run),
    append: (s, labels, expected, options = {}) => step(`append ${labels.join(' ') || 'nothing'} to ${s} expecting ${expected ?? 'default'}`, () =>
      client.appendToStream(stream(s), labels.map((l) => (typeof l === 'string' ? event(l) : l)), expected === undefined ? options : { expectedRevision: expected, ...options })),
    read: (s, options = {}) => step(`read ${s} ${JSON.stringify(options, big)}`, () => collect(client.readStream(stream(s), options))),
    /** Subscribes, runs `meanwhile` once it has caught up, waits for the rest, and records everything received, in order. */
    subscribe: async (what, open, meanwhile = async () => {}, quiet = 400) => {
      const note = { step: what, result: [] }
      const known = recorded[notes.length]?.result ?? []
      notes.push(note)
      let last = Date.now()
      const heard = (o) => { last = Date.now(); note.result.push(o) }
      const sub = open()
      sub.on('data', (e) => heard({ event: shape(e) })); sub.on('caughtUp', () => heard('caughtUp')); sub.on('fellBehind', () => heard('fellBehind'))
      sub.on('confirmation', () => heard('confirmation')); sub.on('error', (e) => heard({ error: errorOf(e) })); sub.on('end', () => heard('end'))
      const until = async (isSo, msMax) => { for (const end = Date.now() + msMax; !isSo() && Date.now() < end;) await sleep(20) }
      const isQuiet = () => Date.now() - last >= quiet
      // A subscription to a stream that does not exist yet receives nothing after the confirmation.
      await until(() => note.result.some((o) => o === 'caughtUp' || o.error !== undefined) || Date.now() - last >= 3_000, answerMsMax)
      await until(isQuiet, answerMsMax)
      await meanwhile(sub)
      last = Date.now()
      // The last entry is the end, which comes when it is unsubscribed.
      const due = known.at(-1) === 'end' ? known.length - 1 : known.length
      await until(() => note.result.length >= due, 20_000)
      await until(isQuiet, answerMsMax)
      await Promise.race([sub.unsubscribe().catch(() => {}), sleep(1_000)])
      if (known.at(-1) === 'end') await until(() => note.result.at(-1) === 'end', 20_000)
      return note
    },
  }
}

function big(_k, v) { return typeof v === 'bigint' ? `${v}n` : v }

function shape(v) {
  if (typeof v === 'bigint') return `${v}n`
  if (v instanceof Date) return '<time>'
  if (v instanceof Uint8Array) return /^\d+@/.test(Buffer.from(v).toString()) ? `link:${Buffer.from(v)}` : `bytes:${Buffer.from(v).toString('base64').slice(0, 200)}`
  if (v instanceof Map) return shape(Object.fromEntries(v))
  if (v instanceof Set) return [...v].map(shape)
  if (typeof v === 'string' && v.length > 300) return `${v.slice(0, 40)}…(${v.length})`
  if (Array.isArray(v)) return v.map(shape)
  if (v && typeof v === 'object') return Object.fromEntries(Object.entries(v).filter(([, x]) => x !== undefined && typeof x !== 'function').map(([k, x]) => [k, shape(x)]))
  return v
}

function errorOf(e) {
  const keep = {}
  for (const k of ['type', 'code', 'streamName', 'expectedRevision', 'actualRevision', 'expectedVersion', 'actualVersion', 'maxAppendSize', 'requiredMetadataProperties', 'groupName', 'leaderInfo', 'details']) {
    if (e?.[k] !== undefined) keep[k] = shape(e[k])
  }
  return { name: e?.constructor?.name, message: e?.message, ...keep }
}

/** Replaces the run's ids by labels, other UUIDs and times by placeholders, and log positions by their rank within the scenario. */
function stabiliser(run, labels) {
  const others = new Map()
  const positions = new Map()
  return (note) => {
    const text = JSON.stringify(note, big)
    const named = text
      .replaceAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, (u) => (labels.has(u) ? `id:${labels.get(u)}` : (others.has(u) || others.set(u, `uuid:${others.size + 1}`), others.get(u))))
      .replaceAll(`-${run}`, '')
      .replaceAll(/"(created|timestamp|timeStamp)":"?[0-9TZ:.\- ]+"?/g, '"$1":"<time>"')
      .replaceAll(/\["created","\d+"\]/g, '["created","<time>"]')
      .replaceAll(/"(deadline|deadline21100|timestamp)":\{"seconds":"?\d+"?,"nanos":\d+\}/g, '"$1":"<time>"')
      .replaceAll(/"(commit|prepare|commitPosition|preparePosition|lastCommitPosition|lastPreparePosition|lastAllCommitPosition|lastAllPreparePosition|metastreamRevision)":"?(\d+)n?"?/g, (_, k, p) => `"${k}":"@${p}"`)
    return JSON.parse(named, (_k, v) => (typeof v === 'string' && /^@\d+$/.test(v) ? rank(positions, v.slice(1)) : v))
  }
}

function rank(positions, p) {
  if (p === '18446744073709551615') return 'position:max'
  if (p === '0') return 'position:0'
  if (!positions.has(p)) positions.set(p, `position:${positions.size + 1}`)
  return positions.get(p)
}
