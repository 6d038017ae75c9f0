/**
 * To be given with `--import`, which holds for all threads. Prints each step that writes, syncs, renames or deletes a file of a snapshot or of rows. At
 * the step that the variable DIE_AT names (`{ name, nth }`), the process is killed: just before the step; if it writes bytes, after
 * half of them.
 */
import fs from 'node:fs'
import promises from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { isMainThread } from 'node:worker_threads'

const { name: last, nth } = JSON.parse(process.env.DIE_AT ?? '{}')
let steps = 0
const kindOf = (path) => /\.rows|\.snapshot/.exec(String(path))?.[0]
/** `half`: the part of the step that is done before the end. */
const at = (step, half) => {
  const name = `${isMainThread ? 'main' : 'other'} thread: ${step}`
  writeSync(1, `${name}\n`)
  if (name !== last || ++steps !== nth) return
  half?.()
  process.kill(process.pid, 'SIGKILL')
}

const paths = new Map()
const { appendFileSync, fdatasyncSync, fsyncSync, openSync, renameSync, writeSync } = fs
const { open, rm } = promises
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
fs.appendFileSync = (fd, bytes) => {
  const kind = kindOf(paths.get(fd))
  if (kind !== undefined) at(`write ${kind}`, () => writeSync(fd, Buffer.from(bytes), 0, bytes.length >> 1))
  return appendFileSync(fd, bytes)
}
const synced = (original) => (fd) => {
  const kind = kindOf(paths.get(fd))
  if (kind !== undefined) at(`sync ${kind}`)
  return original(fd)
}
fs.fdatasyncSync = synced(fdatasyncSync)
fs.fsyncSync = synced(fsyncSync)
fs.renameSync = (from, to) => {
  if (kindOf(to) !== undefined) at('rename')
  return renameSync(from, to)
}
promises.open = async (path, flags, mode) => {
  const handle = await open(path, flags, mode)
  const ofPromise = (original) => async () => {
    at(`sync ${kindOf(path) ?? 'folder'}`)
    return original.call(handle)
  }
  handle.datasync = ofPromise(handle.datasync)
  handle.sync = ofPromise(handle.sync)
  return handle
}
promises.rm = async (path, options) => {
  if (kindOf(path) !== undefined) at(`rm ${kindOf(path)}`)
  return rm(path, options)
}
syncBuiltinESMExports()
