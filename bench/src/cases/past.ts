/**
 * Past moments of a queue with a million live tasks: the cost of a query when no state near its moment is in memory, and when one is.
 * `DAYBOOK_BENCH_PAST=FOLDER` measures a data folder that was made before.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { streamOf } from '@daybook/adapters/engine'
import { httpLimitsDefault, pastAnswersOnThread, pastLimitsDefault, type PastAnswers, type PastQuestion } from '@daybook/adapters/http'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { type Case, type Figures, scaled } from '../case.js'
import { nowMs, percentile, sleep } from '../measure.js'
import { mixedTask, mixSettings } from '../mix.js'
import { caller, fill, logFile, openQueue, right } from '../queue.js'

const million = 1_000_000
const round = 20_000
/** Rounds of 20,000 tasks that are enqueued, claimed and ended: 60,000 events each. */
const rounds = 36
const content = '{"success":true}'
const snapshotsOf = (folder: string): string => join(folder, 'snapshots')

/** A million live tasks after a third of the events, and in all that follow. One of a hundred claims fails. */
const makeHistory = async (folder: string, scale: number): Promise<void> => {
  const { daybook, engine } = await openQueue(folder)
  right(await engine.submit({ type: 'Configure', patch: mixSettings }, caller))
  await fill(engine, scaled(million, scale, 20_000), mixedTask)
  const each = scaled(round, scale, 1_000)
  for (let i = 0; i < rounds; i++) {
    await fill(engine, each, mixedTask)
    for (let done = 0; done < each; ) {
      const claims = right(await engine.claim({ type: 'Claim', agent: `agent-${i % 10}`, max: Math.min(1_000, each - done) }, caller)).value
      done += claims.length
      const outcomes = claims.map(({ task, token }, k) => {
        const held = { task, agent: `agent-${i % 10}`, token }
        return k % 100 === 0
          ? { type: 'Fail' as const, ...held, error: { message: 'connection refused' }, retryable: true }
          : { type: 'Complete' as const, ...held, content, hasReport: false }
      })
      await engine.submitAll(outcomes, caller)
    }
  }
  await daybook.close()
}

const of = '/api/queues/{queue}'
const never = new AbortController().signal

type Asked = Pick<PastQuestion, 'path' | 'moment'> & { readonly params?: PastQuestion['params']; readonly query?: unknown }

const ask = async (past: PastAnswers, { params, ...asked }: Asked): Promise<string> => {
  const question = { queue: 'default', params: { queue: 'default', ...params }, query: {}, wantsLines: false, ...asked }
  const { text } = right<{ readonly text: unknown }>(await past.ask(question, never))
  return String(text)
}

/** CPU time is that of all threads, including garbage collections. */
const timed = async (body: () => Promise<unknown>): Promise<{ readonly ms: number; readonly cpuMs: number }> => {
  const begun = nowMs()
  const before = process.cpuUsage()
  await body()
  const { user, system } = process.cpuUsage(before)
  return { ms: nowMs() - begun, cpuMs: (user + system) / 1_000 }
}

/** The number of events in the span of a difference. */
const spanEvents = 1_000

const questionsAt = (revision: number, task: string): Readonly<Record<string, Asked>> => ({
  state: { path: `${of}/state`, moment: { revision } },
  tasks: { path: `${of}/tasks`, moment: { revision } },
  breakers: { path: `${of}/breakers`, moment: { revision } },
  explain: { path: `${of}/tasks/{id}/explain`, params: { id: task }, moment: { revision } },
  diff: { path: `${of}/diff`, moment: { from: { revision: revision - spanEvents }, to: { revision } } },
})

/** The revisions of the snapshots that are kept, in order. */
const keptIn = (folder: string): ReadonlyArray<number> =>
  readdirSync(snapshotsOf(folder)).flatMap((name) => Number(/\.(\d+)\.snapshot$/.exec(name)?.[1] ?? Number.NaN)).filter(Number.isFinite).sort((a, b) => a - b)

const measure = async (folder: string): Promise<Figures> => {
  const file = join(folder, logFile)
  const store = await openSqliteStore({ file })
  const head = await store.head(streamOf('default'))
  await store.close()
  const kept = keptIn(folder).filter((revision) => revision < head - spanEvents)
  // A small queue has no snapshot yet.
  const begins = kept.length === 0 ? [0] : kept
  const gaps = begins.map((revision, index) => ({ revision, events: (begins[index + 1] ?? head) - revision }))
  // The first one is of a queue with fewer tasks.
  const widest = gaps.slice(gaps.length > 1 ? 1 : 0).reduce((a, b) => (b.events > a.events ? b : a))
  const places = { 'after a snapshot': widest.revision + 1 + spanEvents, 'in the middle': widest.revision + Math.floor(widest.events / 2), 'at the end': head - 10 }
  const open = (idleMs: number): PastAnswers =>
    pastAnswersOnThread({ log: { kind: 'sqlite', file }, snapshots: snapshotsOf(folder), limits: httpLimitsDefault, states: { ...pastLimitsDefault, idleMs } })

  const figures: Record<string, number> = { 'events': head + 1, 'snapshots': kept.length, 'longest gap, events': widest.events }
  // Its thread is ended after each answer, like that of a server that was not asked for ten minutes.
  const cold = open(0)
  // A task that is claimed among the last, so that it is still ready at the end.
  const found = JSON.parse(await ask(cold, { path: `${of}/tasks`, query: { priority: '1' }, moment: { revision: places['after a snapshot'] } })) as { readonly tasks: ReadonlyArray<{ readonly id: string }> }
  const task = found.tasks[found.tasks.length - 1]!.id
  for (const [place, revision] of Object.entries(places)) {
    for (const [name, asked] of Object.entries(questionsAt(revision, task))) {
      await sleep(200)
      const { ms, cpuMs } = await timed(() => ask(cold, asked))
      figures[`${name} ${place} ms`] = ms
      figures[`${name} ${place}, CPU ms`] = cpuMs
    }
  }
  await cold.close()

  const warm = open(60_000)
  const middle = places['in the middle']
  await ask(warm, questionsAt(middle, task)['state']!)
  let at = middle
  // Five steps of the longest kind cover only a small part of the way to the end.
  const long = Math.min(20_000, Math.floor((head - middle) / 10))
  for (const by of [1_000, -1_000, long, -long]) {
    const times: Array<number> = []
    for (let i = 0; i < 5; i++) times.push((await timed(() => ask(warm, questionsAt((at += by), task)['state']!))).ms)
    figures[`${Math.abs(by)} events ${by < 0 ? 'back' : 'on'} ms`] = percentile(times, 0.5)
  }
  await warm.close()
  return figures
}

const goalMs = 1_000
const goals = Object.fromEntries(
  ['after a snapshot', 'in the middle', 'at the end'].flatMap((place) => Object.keys(questionsAt(0, '')).map((name) => [`${name} ${place} ms`, ['≤', goalMs] as const])),
)

export const pastMoments: Case = {
  name: 'past-1M',
  what: 'questions about past moments of a queue with 1,000,000 live tasks (50 types, 5 phases, 100 tenants), cold, by the clock and of CPU; and a `state` some events on and back',
  goals,
  onlyNamed: true,
  run: async (folder, scale) => {
    const kept = process.env['DAYBOOK_BENCH_PAST']
    if (kept !== undefined) return measure(kept)
    const maker = fork(fileURLToPath(import.meta.url), ['make-history', folder, String(scale)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
    await once(maker, 'exit')
    return measure(folder)
  },
}

if (process.argv[2] === 'make-history') {
  await makeHistory(process.argv[3] as string, Number(process.argv[4]))
  process.disconnect?.()
}
