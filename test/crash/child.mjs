/**
 * The process that is killed: a queue on an SQLite file, under load. Plain JavaScript, so that it starts fast. What was acknowledged is printed at
 * once, one line of JSON each. Standard output is a pipe, which takes a line before `write` returns, so printed lines survive the kill.
 *
 *     node child.mjs <store> <folder> <run> <seed> [early]
 *     then, on standard input, one line: {"queue": "q", "retry": […], "carry": […]}
 *
 * The store is `sqlite` for a file in the folder, `sqlite-shared` for one that others have open as well, or the connection string of an EventStoreDB.
 * Snapshots are in the folder, too.
 */
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { createDaybook } from '@daybook/adapters/engine'
import { openSnapshotFolder } from '@daybook/adapters/files'
import { sealingHere } from '@daybook/adapters/seals'
import { openSqliteStore } from '@daybook/adapters/sqlite'

const [choice, folder, run, seed, defect] = process.argv.slice(2)
const callers = 8

const say = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

let state = Number(seed)
const random = () => {
  state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
  return state / 2 ** 32
}
const below = (n) => Math.floor(random() * n)

/** The planted defect: acknowledges at once and writes some time later. */
const hasty = (store) => ({
  ...store,
  append: sealingHere((stream, events, expected) => async () => {
    const revision = (typeof expected === 'number' ? expected : -1) + events.length
    setTimeout(() => void store.append(stream, events, expected)(), 400)
    return { _tag: 'Right', right: { revision } }
  }),
})

/** Reports the start of a snapshot, so that the kill can come in the middle of it. */
const reporting = (snapshots) => ({
  ...snapshots,
  create: async (header) => {
    say({ snapshot: header.revision })
    return snapshots.create(header)
  },
})

const openStore = async () => {
  if (choice.startsWith('esdb')) return (await import('@daybook/adapters/eventstoredb')).openEventStoreDb({ url: choice })
  return openSqliteStore({ file: join(folder, 'daybook.db'), sharing: choice === 'sqlite-shared' ? 'shared' : 'exclusive' })
}

let last = 0
const send = async (engine, command) => {
  const id = `${run}-${++last}`
  if (command.type === 'Enqueue') say({ asked: command.tasks })
  if (command.token !== undefined) say({ about: command.token })
  const outcome = await engine.submit(command, { actor: 'load', correlationId: id })
  say({ exchange: { id, command, outcome } })
  return outcome
}

const newTasks = (count) => {
  const stem = `${run}.${++last}`
  return Array.from({ length: count }, (_, i) => ({
    id: `${stem}/${i}/${count}`,
    type: ['work', 'toil'][below(2)],
    idempotencyKey: `${stem}/${i}/${count}`,
    content: JSON.stringify({ payload: 'x'.repeat(below(300)) }),
    timeout: random() < 0.05 ? 0.05 : 600,
    maxRetries: below(4),
    backoffSeconds: random() < 0.5 ? 0 : 0.02,
    ...(i > 0 && random() < 0.2 ? { dependencies: [`${stem}/${i - 1}/${count}`] } : {}),
  }))
}

/** Cancels a task of a type that nobody claims, so that all tasks held at the kill are still held afterwards. */
const cancelOne = async (engine) => {
  const tasks = newTasks(3).map((task) => ({ ...task, type: 'dropped' }))
  await send(engine, { type: 'Enqueue', tasks })
  await send(engine, { type: 'Cancel', task: tasks[0].id, reason: 'no' })
}

const complete = ({ task, token }, agent) => ({
  type: 'Complete', task, agent, token, content: '{"decisionReport":"done"}', hasReport: true,
})

const caller = async (engine, index) => {
  const agent = `agent ${run}-${index}`
  for (;;) {
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
        await send(engine, { type: 'Enqueue', tasks: newTasks(1) })
        break
      case 3:
        await send(engine, { type: 'Enqueue', tasks: newTasks(2 + below(20)) })
        break
      case 4:
        await cancelOne(engine)
        break
      default: {
        const id = `${run}-${++last}`
        const command = { type: 'Claim', agent, max: 1 + below(4), types: ['work', 'toil'] }
        const outcome = await engine.claim(command, { actor: agent, correlationId: id }, { waitMs: 5 })
        const claims = outcome._tag === 'Right' ? outcome.right.value : []
        say({ exchange: { id, command, outcome } })
        for (const held of claims) {
          const { task, token } = held
          const choice = below(10)
          if (choice < 6) await send(engine, complete(held, agent))
          else if (choice < 8) {
            const error = { message: 'no luck' }
            await send(engine, { type: 'Fail', task, agent, token, error, retryable: choice === 6, checkpoint: { n: 1, content: 'x' } })
          } else if (choice < 9) await send(engine, { type: 'Release', task, agent, token, reason: 'not mine' })
        }
      }
    }
    await sleep(below(6))
  }
}

const main = async () => {
  const input = createInterface({ input: process.stdin })
  say({ loaded: true })
  const go = await new Promise((resolve) => input.once('line', (line) => resolve(JSON.parse(line))))
  const opened = await openStore()
  const daybook = createDaybook({
    // Without this, a process that is killed within a second would end no lease.
    leaseGraceMs: 0,
    // Agents of killed processes still count until their leases end.
    defaults: { capacity: { maxConcurrentAgents: 100_000 } },
    store: defect === 'early' ? hasty(opened) : opened,
    snapshots: reporting(await openSnapshotFolder(join(folder, choice === 'sqlite' ? 'snapshots' : `snapshots of ${run}`), { ladder: { count: 4, bytes: 2 ** 30 } })),
    snapshotEvery: 150,
    warn: (message) => say({ warning: message }),
  })
  await daybook.ready
  const engine = await daybook.open(go.queue ?? 'q')
  const { revision, snapshotRevision } = engine.status()
  say({ ready: { revision, snapshotRevision } })
  // Enqueues without an answer before the kill are sent again; held tasks are kept.
  for (const tasks of go.retry) await send(engine, { type: 'Enqueue', tasks })
  for (const { agent, ...held } of go.carry) await send(engine, complete(held, agent))
  say({ carried: true })
  await Promise.all(Array.from({ length: callers }, (_, index) => caller(engine, index)))
}

main().catch((error) => {
  say({ failed: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  process.exit(1)
})
