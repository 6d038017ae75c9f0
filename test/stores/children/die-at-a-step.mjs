/**
 * Finishes tasks of a queue, with snapshots in between, and is killed at the `nth` step with this name. Steps write, sync, rename or delete a file
 * of a snapshot or of rows. The kill comes just before the step; if it writes bytes, after half of them. Prints each step up to then; all of them if there is
 * no such step.
 */
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'

const { dir, name: last, nth } = JSON.parse(process.argv[2])
let steps = 0
const kindOf = (path) => /\.rows|\.snapshot/.exec(String(path))?.[0]
/** `half`: the part of the step that is done before the end. */
const at = (name, half) => {
  writeSync(1, `${name}\n`)
  if (name !== last || ++steps !== nth) return
  half?.()
  process.kill(process.pid, 'SIGKILL')
}

const paths = new Map()
const { openSync, writeSync } = fs
const { open, rename, rm } = promises
fs.openSync = (path, flags, mode) => {
  if (kindOf(path) !== undefined && flags !== 'r') at(`open ${kindOf(path)}`)
  const fd = openSync(path, flags, mode)
  paths.set(fd, String(path))
  return fd
}
fs.writeSync = (fd, bytes, from, length, position) => {
  const kind = kindOf(paths.get(fd))
  if (kind !== undefined) at(`write ${kind}`, () => writeSync(fd, bytes, from, length >> 1, position))
  return writeSync(fd, bytes, from, length, position)
}
promises.open = async (path, flags, mode) => {
  const kind = kindOf(path)
  if (flags === 'wx') at(`open ${kind}`)
  const handle = await open(path, flags, mode)
  const { appendFile, datasync, sync } = handle
  handle.appendFile = async (bytes) => {
    at(`write ${kind}`, () => writeSync(handle.fd, Buffer.from(bytes), 0, bytes.length >> 1))
    return appendFile.call(handle, bytes)
  }
  const synced = (original) => async () => {
    at(`sync ${kind ?? 'folder'}`)
    return original.call(handle)
  }
  handle.datasync = synced(datasync)
  handle.sync = synced(sync)
  return handle
}
promises.rename = async (from, to) => {
  if (kindOf(to) !== undefined) at('rename')
  return rename(from, to)
}
promises.rm = async (path, options) => {
  if (kindOf(path) !== undefined) at(`rm ${kindOf(path)}`)
  return rm(path, options)
}
syncBuiltinESMExports()

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
