/** Finishes tasks of a queue whose old rows are in files, with a snapshot in between, says which, and is killed. */
import { setTimeout as delay } from 'node:timers/promises'
import { openEngine } from '@daybook/adapters/engine'
import { openSnapshotFolder } from '@daybook/adapters/files'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { prepareTask } from '@daybook/adapters/engine'

const { dir, rounds } = JSON.parse(process.argv[2])
const right = (outcome) => {
  if (outcome._tag === 'Right') return outcome.right
  throw new Error(JSON.stringify(outcome.left))
}
const caller = { actor: 'tester' }
const snapshotEvery = 3_000
const warn = (message) => console.error(message)
const engine = await openEngine(
  await openSqliteStore({ file: `${dir}/log.db` }),
  'q',
  await openSnapshotFolder(`${dir}/snapshots`, { rows: { warn, newest: 1, fileBytes: 100_000 } }),
  { progress: () => undefined, skipped: () => undefined },
  { snapshotEvery, warn },
)
for (let round = 0; round < rounds; round++) {
  const tasks = Array.from({ length: 250 }, (_, i) => right(prepareTask({ type: 't', id: `${round}-${i}`, payload: { round, i } })))
  right(await engine.submit({ type: 'Enqueue', tasks }, caller))
  const held = right(await engine.claim({ type: 'Claim', agent: 'ann', max: 250 }, caller)).value
  const done = held.map(({ task, token }) => ({ type: 'Complete', task, agent: 'ann', token, content: '{"decisionReport":"done"}', hasReport: true }))
  for (const outcome of await engine.submitAll(done, caller)) right(outcome)
  // A busy machine would take fewer snapshots.
  while (engine.status().revision - engine.status().snapshotRevision >= snapshotEvery) await delay(5)
}
process.stdout.write(`${JSON.stringify(engine.status())}\n`, () => process.kill(process.pid, 'SIGKILL'))
