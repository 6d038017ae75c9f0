// Appends one event every few milliseconds, whatever the outcome of earlier ones. Prints every outcome, and the log at the end.
import { openSqliteStore } from '@daybook/adapters/sqlite'

const { file, count, everyMs } = JSON.parse(process.argv[2])
const store = await openSqliteStore({ file })
const outcomes = []
for (let n = 0; n < count; n++) {
  const id = `id-${n}`
  outcomes.push(store.append('s', [{ id, type: 'T', data: '{}', metadata: '{}' }], 'any')().then((outcome) => ({ id, outcome: outcome.left?._tag ?? 'written' })))
  await new Promise((resolve) => setTimeout(resolve, everyMs))
}
for (const outcome of await Promise.all(outcomes)) process.stdout.write(`${JSON.stringify(outcome)}\n`)
await store.close()
