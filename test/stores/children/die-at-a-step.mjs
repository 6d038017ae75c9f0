/**
 * Finishes tasks of a queue, with snapshots in between. Given with `--import`, `steps-of-files.mjs` prints the steps of its work with files, and may
 * end it at one of them.
 */
import { setTimeout as delay } from 'node:timers/promises'

const { dir } = JSON.parse(process.argv[2])
const { openEngine, prepareTask } = await import('@daybook/adapters/engine')
const { openSnapshotFolder } = await import('@daybook/adapters/files')
const { openSqliteStore } = await import('@daybook/adapters/sqlite')
const right = (outcome) => {
  if (outcome._tag === 'Right') return outcome.right
  throw new Error(JSON.stringify(outcome.left))
}
const caller = { actor: 'tester' }
const snapshotEvery = 2_000
const engine = await openEngine(
  await openSqliteStore({ file: `${dir}/log.db` }),
  'q',
  await openSnapshotFolder(`${dir}/snapshots`, { keep: 1, ladder: { count: 0, bytes: 0 }, rows: { newest: 1, fileBytes: 60_000 } }),
  { progress: () => undefined, skipped: () => undefined },
  { snapshotEvery },
)
for (let round = 0; round < 4; round++) {
  const tasks = Array.from({ length: 400 }, (_, i) => right(prepareTask({ type: 't', id: `${round}-${i}`, payload: { round, i } })))
  right(await engine.submit({ type: 'Enqueue', tasks }, caller))
  const held = right(await engine.claim({ type: 'Claim', agent: 'ann', max: 400 }, caller)).value
  const done = held.map(({ task, token }) => ({ type: 'Complete', task, agent: 'ann', token, content: '{"decisionReport":"done"}', hasReport: true }))
  for (const outcome of await engine.submitAll(done, caller)) right(outcome)
  // Two snapshots, on slow machines as well, of which the second deletes the first.
  while (engine.status().revision - engine.status().snapshotRevision >= snapshotEvery) await delay(5)
}
await engine.close()
process.exit(0)
