// Appends one event after another, whatever the outcome, and prints every outcome; then everything that can be read.
import { openSqliteStore } from '@daybook/adapters/sqlite'

const { file, bytes, count } = JSON.parse(process.argv[2])
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
const store = await openSqliteStore({ file })
for (let n = 0; n < count; n++) {
  const event = { id: `id-${n}`, type: 'T', data: JSON.stringify('x'.repeat(bytes)), metadata: '{}' }
  const outcome = await store.append('s', [event], 'any')()
  say({ id: event.id, outcome: outcome._tag === 'Right' ? 'written' : outcome.left._tag, reason: outcome.left?.reason })
  try {
    const ids = []
    for await (const page of store.read('s', { direction: 'backwards', limit: 1 })) ids.push(...page.map(({ id }) => id))
    say({ id: event.id, isThere: ids[0] === event.id })
  } catch (error) {
    say({ id: event.id, unreadable: error.code })
  }
  if (outcome.left?._tag === 'Unavailable' && process.argv[3] !== undefined) {
    const { rmSync } = await import('node:fs')
    rmSync(process.argv[3], { force: true })
  }
}
await store.close()
