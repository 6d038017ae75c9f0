// Appends as much as one append may have, and reads, while this process may open no more files, and again afterwards. Prints how each attempt ended.
import { closeSync, openSync } from 'node:fs'
import { openSqliteStore } from '@daybook/adapters/sqlite'

const { file } = JSON.parse(process.argv[2])
const store = await openSqliteStore({ file })
const data = JSON.stringify('x'.repeat(1_500))
let count = 0
const append = async () => {
  const events = Array.from({ length: 10_000 }, () => ({ id: `id-${count++}`, type: 'T', data, metadata: '{}' }))
  const outcome = await store.append('s', events, 'any')()
  return outcome._tag === 'Right' ? 'appended' : outcome.left.reason
}
const readAll = async () => {
  let events = 0
  for await (const page of store.read('s')) events += page.length
  return events
}
const say = (text) => process.stdout.write(`${text}\n`)
const taken = []
try {
  for (;;) taken.push(openSync('/dev/null'))
} catch (error) {
  say(error.code)
}
say(await append())
say(await append())
say((await store.pick('s', [0, 19_999])).map((event) => event.id).join())
say(await readAll().then(() => 'read', (error) => error.code))
for (const descriptor of taken) closeSync(descriptor)
say(await append())
say(await readAll())
await store.close()
