/** EV-09: each task of a folder is taken, already there, a repetition, or left out by name; and none runs before its dependencies. */
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { importFiles, type ImportReport, importTarget, type QueueFile, readQueueFile, tasksIn, tryImport } from '@daybook/adapters/import'
import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { adminToken, startTestServer, type TestServer } from '../http/support.js'

let server: TestServer
let client: DaybookClient
beforeAll(async () => {
  server = await startTestServer()
  client = createClient({ url: server.http.url, token: adminToken })
})
afterAll(async () => {
  await client.close()
  await server.stop()
})

// ------------------------------------------------------------------ random folders

const ids = Array.from({ length: 12 }, (_, i) => `t${i}`)
const anId = fc.constantFrom(...ids)
const someIds = fc.uniqueArray(fc.constantFrom(...ids, 'ghost', 'there'), { maxLength: 3 })
const marked = fc.uuid().map((id) => `said-${id}`)
/** An object with or without the member. */
const maybe = (names: ReadonlyArray<string>, value: fc.Arbitrary<unknown>) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: fc.tuple(fc.constantFrom(...names), value).map(([name, given]) => ({ [name]: given })) })

const waitingNames = ['dependencies', 'depends_on', 'dependsOn', 'blockedBy', 'blocked_by', 'blockers'] as const
const statuses = ['pending', 'in_progress', 'completed', 'DONE', 'failed', 'skipped', 'cancelled', 'shipped', 'blocked', 'blocked_by_t3', 'whenever']

const task = fc
  .tuple(
    maybe(['id', 'task_id', 'taskId'], anId),
    maybe(['id', 'task_id'], anId),
    maybe(['type', 'agent_type'], fc.constantFrom('eng', 'ops', 'qa-*')),
    maybe(['status', 'state'], fc.constantFrom(...statuses)),
    maybe(waitingNames, fc.oneof(someIds, anId)),
    maybe(['requires'], fc.oneof(someIds, fc.constant({ skills: ['ts'] }), marked)),
    maybe(['priority'], fc.oneof(fc.integer({ min: 0, max: 14 }), fc.constantFrom('high', 'P4', '7', 'whenever'))),
    maybe(['payload'], fc.record({ say: marked, dependencies: someIds })),
    maybe(['title', 'description', 'task_name', 'goal'], marked),
    maybe(['started', 'completed_at', 'createdAt', 'skipped_at'], fc.oneof(fc.constant('2026-01-31T22:00:00Z'), marked)),
    maybe(['reason', 'lastError', 'error', 'result', 'claimedBy', 'summary', 'metadata'], fc.oneof(marked, fc.record({ output: marked, else: marked }))),
  )
  .map((parts): object => Object.assign({}, ...parts) as object)
const entry = fc.oneof({ weight: 12, arbitrary: task as fc.Arbitrary<unknown> }, { weight: 1, arbitrary: marked }, { weight: 1, arbitrary: fc.constantFrom(null, 7, '', [1]) })
const entries = fc.array(entry, { maxLength: 6 })

/** The contents of a file and the number of its tasks, counted independently of the code under test. */
const content: fc.Arbitrary<{ readonly value: unknown; readonly tasks: number }> = fc.oneof(
  entries.map((list) => ({ value: list, tasks: list.length })),
  fc.tuple(fc.constantFrom('tasks', 'queue'), entries).map(([name, list]) => ({ value: { version: 1, [name]: list, notes: ['x'] }, tasks: list.length })),
  fc
    .dictionary(fc.constantFrom('queue', 'claimed', 'completed', 'failed_tasks', 'skippedTasks', 'in-progress'), entries, { minKeys: 1 })
    .map((lists) => ({ value: lists, tasks: Object.values(lists).reduce((sum, list) => sum + list.length, 0) })),
  fc.tuple(fc.array(task, { minLength: 1, maxLength: 3 }), entries).map(([odd, list]) => ({ value: { tasks: list, someday: odd }, tasks: list.length + odd.length })),
  fc.dictionary(anId, task, { maxKeys: 3 }).map((byId) => ({ value: { tasks: byId }, tasks: Object.keys(byId).length })),
)
const names = ['pending.json', 'in-progress.json', 'completed.json', 'failed.json', 'cancelled.json', 'tasks.json', 'odd.json']
const folder = fc.dictionary(fc.constantFrom(...names), content, { minKeys: 1, maxKeys: 4 })
type Folder = Readonly<Record<string, { readonly value: unknown; readonly tasks: number }>>
const filesOf = (given: Folder): ReadonlyArray<QueueFile> => Object.entries(given).map(([name, { value }]) => readQueueFile(JSON.stringify(value), name))

let last = 0
/** A new queue that already has one of the tasks. */
const newQueue = async (): Promise<DaybookClient> => {
  const queue = client.in(`q${++last}`)
  await queue.enqueue({ id: 'there', type: 'other' })
  return queue
}

const accounted = ({ took, alreadyThere, repeated, refused }: ImportReport): number => took + alreadyThere + repeated + tasksIn(refused)
const held = runs(60)

// ------------------------------------------------------------------ properties

test('each task of the files is taken, already there, a repetition, or left out with file and reason', () =>
  fc.assert(fc.asyncProperty(folder, async (given) => {
    const queue = await newQueue()
    const tasks = Object.values(given).reduce((sum, file) => sum + file.tasks, 0)
    const report = await importFiles(filesOf(given), importTarget(queue))
    expect(accounted(report)).toBe(tasks)
    expect(report.refused.filter(({ file, why }) => !(file in given) || why === '')).toEqual([])
    expect((await queue.depth()).total).toBe(report.took + 1)
    expect(Object.values(report.byStatus).reduce((sum, count) => sum + count, 0)).toBe(report.took)
    const { byStatus } = await queue.depth()
    for (const [status, count] of Object.entries(report.byStatus)) expect([status, byStatus[status as keyof typeof byStatus]]).toEqual([status, count + (status === 'pending' ? 1 : 0)])
  }), held))

test('a second import finds all tasks there, and leaves out the same ones', () =>
  fc.assert(fc.asyncProperty(folder, async (given) => {
    const queue = await newQueue()
    const first = await importFiles(filesOf(given), importTarget(queue))
    const again = await importFiles(filesOf(given), importTarget(queue))
    expect(again).toMatchObject({ took: 0, alreadyThere: first.took + first.alreadyThere, repeated: first.repeated })
    expect(again.refused).toEqual(first.refused)
  }), held))

test('a dry run predicts the result, also if some tasks are already there, and writes nothing', () =>
  fc.assert(fc.asyncProperty(folder, folder, async (before, given) => {
    const queue = await newQueue()
    await importFiles(filesOf(before), importTarget(queue))
    const { revision } = await queue.depth()
    const foretold = await tryImport(filesOf(given), importTarget(queue))
    expect((await queue.depth()).revision).toBe(revision)
    const report = await importFiles(filesOf(given), importTarget(queue))
    // The queue words its refusals differently, and they have no order.
    const which = ({ refused }: ImportReport) => refused.map(({ file, task, tasks }) => `${file} ${task ?? ''} ${tasks}`).sort()
    expect([{ ...foretold, mapped: [], refused: which(foretold) }]).toEqual([{ ...report, mapped: [], refused: which(report) }])
  }), held))

test('no task can be claimed before the tasks that its entry depends on, whatever the field is called', () =>
  fc.assert(fc.asyncProperty(fc.uniqueArray(fc.tuple(anId, fc.constantFrom(...waitingNames, 'requires', 'payload', 'status'), fc.uniqueArray(anId, { minLength: 1, maxLength: 3 })), { selector: ([id]) => id, maxLength: 12 }), async (rows) => {
    const waits = new Map(rows.map(([id, how, others]) => [id, (how === 'status' ? others.slice(0, 1) : others).filter((other) => other !== id)]))
    const given = rows.map(([id, how]) => {
      const others = waits.get(id) ?? []
      return { id, ...(others.length === 0 ? {} : how === 'payload' ? { payload: { dependencies: others } } : how === 'status' ? { status: `blocked_by_${others.join('')}` } : { [how]: others }) }
    })
    const queue = await newQueue()
    const { refused } = await importFiles([readQueueFile(JSON.stringify(given), 'pending.json')], importTarget(queue))
    const inFile = new Set(given.map(({ id }) => id))
    for await (const one of queue.eachTask({ status: 'pending' })) {
      const ways = rows.find(([id]) => id === one.id)?.[1]
      // A possible dependency counts if it is a task of these files; a certain one that is missing keeps its task out.
      const named = (waits.get(one.id) ?? []).filter((id) => inFile.has(id) || (ways !== 'requires' && ways !== 'payload'))
      expect([one.id, named]).toEqual([one.id, []])
    }
    expect(refused.every(({ why }) => /depends on/.test(why))).toBe(true)
  }), held))

test('everything that a taken task says is in what is sent, unchanged', () =>
  fc.assert(fc.property(task, fc.constantFrom(...names), (given, name) => {
    const file = readQueueFile(JSON.stringify([given]), name)
    const words = JSON.stringify(given).match(/said-[0-9a-f-]{36}/g) ?? []
    for (const { task: sent } of file.found) {
      const text = JSON.stringify(sent)
      expect(words.filter((word) => !text.includes(word))).toEqual([])
    }
  })))
