/** Begins a snapshot in `dir`, ends the thread that writes it, and goes on; then writes another one. Prints the failures, and which files are there. */
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
const page = { kind: 'head', text: 'x', rows: 0, numbers: new Float64Array(0) }
const failed = []
const begin = async (revision) => {
  const writer = await store.create({ stream: 's', revision, eventId: 'e', foldVersion: 1 })
  await writer.page(page)
  return writer
}
const commit = (writer) => writer.commit().catch((error) => failed.push(error.message))

const interrupted = await begin(1)
const commits = commit(interrupted)
started[0].terminate()
await commits
const unknown = await begin(2)
await started[1].terminate()
await commit(unknown)
const left = readdirSync(dir)
await commit(await begin(3))
process.stdout.write(`${JSON.stringify({ failed, left, threads: started.length, then: readdirSync(dir) })}\n`)
