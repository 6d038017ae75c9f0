/**
 * INV-26 over random histories: the answers to all queries about a queue are recorded while it runs. They are requested again when it is over, from
 * snapshots of several ages and from none.
 */
import { contentOf, encodeData, foldRecorded } from '@daybook/adapters/engine'
import { answerPastFrom, type Handled, httpLimitsDefault, type PastQuestion, type ViewRoute, viewRoutesOf } from '@daybook/adapters/http'
import type { LogReader, RecordedEvent, SnapshotStore } from '@daybook/adapters/store'
import { approvalsOf, batchesOf, beginSnapshot, breakersOf, foldVersion, headOf, initial, limitsOf, listTasks, type QueueEvent, type QueueState, schedulesOf, type SnapshotPage, timeOf, versionOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runSeed } from '../support/seed.js'
import { runs } from './settings.js'
import { type Scenario, scenarios } from './steps.js'
import { World } from './world.js'

const limits = { ...httpLimitsDefault, pageMax: 20 }
const routes = new Map(viewRoutesOf(limits).map((route) => [route.path, route]))
const never = new AbortController().signal

// ------------------------------------------------------------------------------- the log of a history

const recordedOf = (events: ReadonlyArray<QueueEvent>): ReadonlyArray<RecordedEvent> => {
  const lastOf = new Map<string, number>()
  return events.map((event, revision) => {
    const task = 'task' in event.data ? event.data.task : undefined
    const prev = task === undefined ? undefined : lastOf.get(task)
    if (task !== undefined) lastOf.set(task, revision)
    const { type } = event
    const metadata = JSON.stringify({ schemaVersion: versionOf(type), at: new Date(event.at).toISOString(), actor: 'someone', prev })
    return { id: `event ${revision}`, stream: 'taskqueue-q', type, data: encodeData(event), metadata, revision, position: revision, created: new Date(event.at).toISOString() }
  })
}

const logOf = (events: () => ReadonlyArray<RecordedEvent>): LogReader => ({
  head: async () => events().length - 1,
  pick: async (_, revisions) => revisions.map((revision) => events()[revision]),
  read: async function* (_, { from = 'start', direction = 'forwards', limit = Number.POSITIVE_INFINITY } = {}) {
    if (direction === 'backwards') {
      const last = typeof from === 'number' ? from : events().length - 1
      yield events().slice(Math.max(0, last - limit + 1), last + 1).reverse()
      return
    }
    const first = typeof from === 'number' ? from : 0
    // Small pages, so that a past moment is often in the middle of one.
    for (let low = first; low < Math.min(first + limit, events().length); low += 7) yield events().slice(low, Math.min(low + 7, first + limit))
  },
})

/** Snapshots at these revisions. They may be beyond the requested moment, and are listed newest first. */
const snapshotsAt = (events: ReadonlyArray<RecordedEvent>, revisions: ReadonlyArray<number>): Pick<SnapshotStore, 'list'> => {
  const kept = revisions.map((revision) => {
    const work = beginSnapshot(foldRecorded(initial('q'), events.slice(0, revision + 1)))
    const pages: Array<SnapshotPage> = []
    for (let next = work.next(50); next !== undefined; next = work.next(50)) pages.push(...next)
    const header = { stream: 'taskqueue-q', revision, eventId: `event ${revision}`, foldVersion }
    return { header, pages: async function* () { yield* pages } }
  })
  return { list: async (_, __, revisionMax) => ({ usable: kept.filter(({ header }) => header.revision <= revisionMax).sort((a, b) => b.header.revision - a.header.revision), skipped: [] }) }
}

// ------------------------------------------------------------------------------------ what is asked

type Question = Pick<PastQuestion, 'path' | 'params' | 'query'>

const of = '/api/queues/{queue}'
/** Every route that answers from a view, for some of what there is. */
const questionsOn = (state: QueueState, at: number): ReadonlyArray<Question> => {
  const asked = (path: string, query: Readonly<Record<string, string>> = {}, params: Readonly<Record<string, string>> = {}): Question => ({ path: path.replace('~', of), params: { queue: 'q', ...params }, query })
  const { tasks } = listTasks(state, {}, 3, undefined, at)
  const settled = listTasks(state, { statuses: ['completed', 'dead-letter', 'in-progress'] }, 3, undefined, at).tasks
  const ids = [...tasks, ...settled].map(({ id }) => id)
  const numbers = tasks.slice(0, 1).map(({ number }) => `#${number}`)
  return [
    asked('~'), asked('~/state'), asked('~/state', { status: 'pending,blocked', limit: '2' }), asked('~/tasks'), asked('~/tasks', { type: 'a*', limit: '3' }),
    asked('~/depth'), asked('~/breakers'), asked('~/agents'), asked('~/settings'), asked('~/dead-letters'), asked('~/dead-letters/patterns'), asked('~/dead-letters/redrive'),
    asked('~/approvals'), asked('~/limits'), asked('~/schedules'), asked('~/alerts'), asked('~/batches'), asked('~/events', { from: '3', limit: '5' }), asked('/api/queue_status'),
    ...[...ids, ...numbers, 'nobody'].flatMap((id) => ['', '/explain', '/result', '/history'].map((part) => asked(`~/tasks/{id}${part}`, {}, { id }))),
    ...approvalsOf(state).slice(0, 1).map(({ id }) => asked('~/approvals/{id}', {}, { id })),
    ...batchesOf(state, {}, 2, undefined, at).batches.map(({ id }) => asked('~/batches/{batch}', {}, { batch: id })),
    ...limitsOf(state).slice(0, 1).map(({ key }) => asked('~/limits/{key}', {}, { key })),
    ...schedulesOf(state).slice(0, 1).map(({ name }) => asked('~/schedules/{name}', {}, { name })),
  ]
}

interface Taken {
  readonly revision: number
  readonly at: number
  /** Whether the time was that of the last event. */
  readonly isEvent: boolean
  readonly answers: ReadonlyArray<readonly [question: Question, answer: Promise<Handled>]>
}

const shown = (handled: Handled): string => JSON.stringify(E.isRight(handled) ? handled.right : handled.left)

/** Runs a history, and records the answers at some of its moments. */
const takeDown = (scenario: Scenario): { readonly events: ReadonlyArray<RecordedEvent>; readonly taken: ReadonlyArray<Taken> } => {
  let events: ReadonlyArray<RecordedEvent> = []
  const log = logOf(() => events)
  let taken: Array<Taken> = []
  const ask = (state: QueueState, revision: number, at: number): Taken => {
    const view = {
      name: 'q',
      revision: () => revision,
      refusal: () => undefined,
      // Evaluated at once: the state goes on.
      read: async <A>(query: (state: QueueState, at: number) => A) => E.right({ value: query(state, at), revision }),
      contents: async (revisions: ReadonlyArray<number>) => (await log.pick('', revisions)).map((event) => event?.data),
      nextSettled: async () => undefined,
      log,
    }
    const { deleted } = headOf(state)
    const answers = questionsOn(state, at).flatMap((question) => {
      const { path, params, query } = question
      const route = routes.get(path) as ViewRoute
      // The server refuses these before it calls the route: see test/http/past.test.ts.
      if (deleted !== null && route.unused === 'refused') return []
      return [[question, route.handle({ queue: view, params, query: query as Parameters<ViewRoute['handle']>[0]['query'], limits, tenants: undefined, wantsLines: false, gone: () => never })] as const]
    })
    return { revision, at, isEvent: at === timeOf(state), answers }
  }
  const world: World = new World(() => ({
    step: ({ state, log: folded, clock, isCloseLook }) => {
      const revision = folded.length - 1
      // Moments that were rolled back never existed.
      taken = taken.filter((other) => other.revision <= revision)
      if (!isCloseLook || revision < 0) return
      const time = timeOf(state)
      taken.push(ask(state, revision, time), ...(clock > time ? [ask(state, revision, clock)] : []))
    },
  }))
  world.run(scenario)
  events = recordedOf(world.log)
  return { events, taken }
}

/** The same query for the recorded moment, as far as the moment can be named. */
const momentsOf = ({ revision, at, isEvent }: Taken, events: ReadonlyArray<RecordedEvent>): ReadonlyArray<PastQuestion['moment']> => {
  const next = events[revision + 1]
  const isLastThen = next === undefined || Date.parse(next.created) > at
  return [...(isEvent ? [{ revision }] : []), ...(isLastThen ? [{ at, head: events.length - 1 }] : [])]
}

let compared = 0
const seen = new Set<string>()

const compare = async (scenario: Scenario): Promise<void> => {
  const { events, taken } = takeDown(scenario)
  const ages = [0.2, 0.5, 0.8, 1].map((part) => Math.floor(part * (events.length - 1)))
  const few = { statesMax: 2, tasksMax: 1_000, idleMs: 60_000, backEvents: 1 }
  const sources = [
    answerPastFrom({ log: logOf(() => events), snapshots: snapshotsAt(events, ages), limits, states: few }),
    answerPastFrom({ log: logOf(() => events), limits, states: few }),
    // It mostly goes back.
    answerPastFrom({ log: logOf(() => events), limits, states: { ...few, statesMax: 1, backEvents: 64 } }),
  ]
  // Positions need the order of ready tasks. The last source also moves before any query has asked for the order.
  const isAsked = (source: number, index: number, { path }: Question): boolean => source < 2 || index % 3 === 2 || !path.endsWith('/explain')
  // Neither forwards nor backwards.
  const order = taken.map((each, i) => [each, (i * 7919) % 101] as const).sort(([, a], [, b]) => a - b).map(([each]) => each)
  for (const [index, each] of order.entries()) {
    // A revision that was never the last at the end of a rolled-back history cannot be named.
    for (const [source, answer] of sources.entries()) {
      for (const moment of momentsOf(each, events)) {
        for (const [question, recorded] of each.answers) {
          if (!isAsked(source, index, question)) continue
          const past = await answer({ queue: 'q', wantsLines: false, moment, ...question }, never)
          const then = await recorded
          const place = `INV-26: ${question.path} ${JSON.stringify(question.params)} at ${JSON.stringify(moment)} of ${events.length} events`
          const said = E.isLeft(then) ? E.left({ revision: each.revision, ...then.left }) : then
          if (shown(past) !== shown(said)) throw new Error(`${place}\nthen: ${shown(said)}\nnow:  ${shown(past)}`)
          seen.add(`${question.path} ${E.isRight(past) ? past.right.status : past.left.status}`)
          compared++
        }
      }
    }
  }
}

/** Routes that have not answered anything yet. */
const unanswered = (): ReadonlyArray<string> => [...routes.keys()].filter((path) => !seen.has(`${path} 200`))

test('INV-26: what is answered for a past moment is what was answered then, byte for byte', async () => {
  const property = fc.asyncProperty(scenarios(120), compare)
  await fc.assert(property, { ...runs(60), seed: runSeed })
  // An approval, for example, is rare.
  for (let more = 1; more <= 10 && unanswered().length > 0; more++) await fc.assert(property, { ...runs(20), seed: runSeed + more })
  expect(compared).toBeGreaterThan(20_000)
  expect(unanswered()).toEqual([])
}, 300_000)

// --------------------------------------------------------------------------------------- differences

/** The state of each task at both moments, by id. Whether a ready task is called queued depends on other tasks. An amendment may restore an earlier content. */
const tasksIn = (state: QueueState, events: ReadonlyArray<RecordedEvent>): ReadonlyMap<string, string> =>
  new Map(listTasks(state, {}, Number.MAX_SAFE_INTEGER).tasks.map(({ id, status, priority, retries, attempts, claimedBy, lastError, contentRevision, availableAt }) =>
    [id, JSON.stringify([status === 'queued' ? 'pending' : status, priority, retries, attempts, claimedBy, lastError, contentOf(events[contentRevision]?.data ?? ''), availableAt])]))

let differences = 0

const compareSpans = async (scenario: Scenario): Promise<void> => {
  const { events } = takeDown(scenario)
  const answer = answerPastFrom({ log: logOf(() => events), limits })
  const last = events.length - 1
  for (const [from, to] of [[-1, last], [Math.floor(last / 3), last], [Math.floor(last / 2), Math.floor((last * 3) / 4)]] as const) {
    const [before, after] = [from, to].map((revision) => foldRecorded(initial('q'), events.slice(0, revision + 1))) as [QueueState, QueueState]
    const [then, now] = [tasksIn(before, events), tasksIn(after, events)]
    const differ = [...new Set([...then.keys(), ...now.keys()])].filter((id) => then.get(id) !== now.get(id))
    const found = new Set<string>()
    for (let cursor: string | null = '0'; cursor !== null; ) {
      const handled: Handled = await answer({ queue: 'q', path: `${of}/diff`, params: {}, query: { cursor, limit: '20' }, wantsLines: false, moment: { from: { revision: from }, to: { revision: to } } }, never)
      if (E.isLeft(handled)) throw new Error(handled.left.detail)
      const page = JSON.parse(handled.right.text as string) as { readonly tasks: ReadonlyArray<{ readonly id: string; readonly events: ReadonlyArray<object> }>; readonly nextCursor: string | null; readonly breakers: ReadonlyArray<{ readonly type: string }> }
      for (const { id, events: by } of page.tasks) {
        found.add(id)
        if (by.length === 0) throw new Error(`${id} differs by no event`)
      }
      cursor = page.nextCursor
      const shownBreakers = [breakersOf(before), breakersOf(after)] as const
      const moved = Object.keys({ ...shownBreakers[0], ...shownBreakers[1] }).filter((type) => JSON.stringify(shownBreakers[0][type]) !== JSON.stringify(shownBreakers[1][type]))
      if (page.breakers.map(({ type }) => type).join() !== moved.sort().join()) throw new Error(`breakers from ${from} to ${to}: ${page.breakers.map(({ type }) => type).join()}, not ${moved.join()}`)
    }
    // A task whose retention is over is gone without an event about it.
    const missed = differ.filter((id) => !found.has(id) && now.has(id))
    if (missed.length > 0) throw new Error(`from ${from} to ${to}: ${missed.join()} differ\n${missed.map((id) => `${then.get(id)} ${now.get(id)}`).join('\n')}`)
    differences += found.size
  }
}

test('EV-06: a difference names every task and every breaker that differs, and the events by which', async () => {
  await fc.assert(fc.asyncProperty(scenarios(120), compareSpans), { ...runs(150), seed: runSeed })
  expect(differences).toBeGreaterThan(1_000)
}, 300_000)
