/** Begins a snapshot in `dir`, ends the thread that writes it, and goes on; then writes another one; then ends the thread during a merge. Prints the failures, and which files are there. */
import { readdirSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import threads from 'node:worker_threads'

const started = []
const { Worker } = threads
threads.Worker = class extends Worker {
  constructor(...args) {
    super(...args)
    started.push(this)
  }
}
syncBuiltinESMExports()

const { openSnapshotFolder } = await import('@daybook/adapters/files')
const { dir } = JSON.parse(process.argv[2])
const store = await openSnapshotFolder(dir)
const page = { kind: 'head', text: '{"unfinished":0}', rows: 0, numbers: new Float64Array(0) }
const failed = []
const headerOf = (revision, base) => ({ stream: 's', revision, eventId: 'e', foldVersion: 1, ...(base === undefined ? {} : { base: { revision: base, eventId: 'e', tasks: 1 } }) })
const begin = async (revision, base) => {
  const writer = await store.create(headerOf(revision, base))
  await writer.page(page)
  return writer
}
const commit = (writer) => writer.commit().catch((error) => failed.push(error.message))

const interrupted = await begin(1)
// Told to end before it is asked, in the same turn: else it may be done first.
started[0].terminate()
await commit(interrupted)
const unknown = await begin(2)
await started[1].terminate()
await commit(unknown)
const left = readdirSync(dir)
await commit(await begin(3))
const then = readdirSync(dir)
await commit(await begin(4, 3))
started.at(-1).terminate()
await store.merge(headerOf(4, 3), new AbortController().signal).catch((error) => failed.push(error.message))
process.stdout.write(`${JSON.stringify({ failed, left, threads: started.length, then, merged: readdirSync(dir) })}\n`)
