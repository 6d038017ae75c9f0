// Appends numbered events, each expecting the revision of the one before. Prints `ready`, and then
// `ack <revision> <n>` for each acknowledgement. Conflicts are retried. Takes its options as JSON.
import { openSqliteStore } from '@daybook/adapters/sqlite'

const { file, sharing = 'exclusive', stream = 's', count = Infinity, batch = 1, name = 'child', pipelined = 1 } =
  JSON.parse(process.argv[2])

const say = (line) => process.stdout.write(`${line}\n`)
const store = await openSqliteStore({ file, sharing })
say('ready')

const event = (n) => ({ id: `${name}-${n}`, type: 'Counted', data: JSON.stringify({ n }), metadata: '{}' })
let n = 0
let head = await store.head(stream)
const appendOnce = async () => {
  const first = n
  n += batch
  const events = Array.from({ length: batch }, (_, i) => event(first + i))
  for (;;) {
    const expected = head < 0 ? 'no_stream' : head
    if (sharing === 'exclusive') head += batch
    const outcome = await store.append(stream, events, expected)()
    if (outcome._tag === 'Right') {
      if (sharing === 'shared') head = outcome.right.revision
      return say(`ack ${outcome.right.revision} ${first + batch - 1}`)
    }
    if (outcome.left._tag !== 'WrongExpectedRevision') throw new Error(JSON.stringify(outcome.left))
    head = outcome.left.actual === 'no_stream' ? -1 : outcome.left.actual
  }
}
const loop = async () => {
  while (n < count) await appendOnce()
}
await Promise.all(Array.from({ length: pipelined }, loop))
await store.close()
say('done')
