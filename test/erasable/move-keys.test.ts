/** Keys that are moved from one file to another: none is lost, and none that was erased comes back. */
import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { KeyFile, moveKeys, newKey } from '@daybook/adapters/task-keys'
import { afterEach, beforeEach, expect, test } from 'vitest'

let dir: string
beforeEach(() => void (dir = mkdtempSync(join(tmpdir(), 'daybook-move-keys-'))))
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const keyOf = (task: string) => ({ ...newKey(), queue: 'q', task, revision: 1 })
const write = <T>(file: string, work: (keys: KeyFile) => T): T => {
  const keys = new KeyFile(file)
  try {
    return work(keys)
  } finally {
    keys.close()
  }
}

test('EV-07: all keys and intentions are in the second file, and the first is gone; moving them again changes nothing', async () => {
  const [from, into, again] = [join(dir, 'from'), join(dir, 'into'), join(dir, 'again')]
  const [a, b, c] = [keyOf('a'), keyOf('b'), keyOf('c')]
  write(from, (keys) => (keys.add([a, b]), keys.intend({ queue: 'q', task: 'b', revision: 7 })))
  write(into, (keys) => keys.add([c]))
  await copyFile(from, again)
  for (const each of [from, again, join(dir, 'nowhere')]) {
    moveKeys(each, into)
    expect(existsSync(each)).toBe(false)
    write(into, (keys) => {
      expect([a, b, c].map(({ id }) => keys.find(id))).toEqual([a.key, b.key, c.key])
      expect(keys.intended('q')).toEqual([{ queue: 'q', task: 'b', revision: 7 }])
    })
  }
})

test('EV-07: a key that one of the files has erased stays erased', async () => {
  const [from, into] = [join(dir, 'from'), join(dir, 'into')]
  const [a, b] = [keyOf('a'), keyOf('b')]
  write(from, (keys) => keys.add([a, b]))
  await copyFile(from, into)
  write(from, (keys) => keys.throwAway({ queue: 'q', task: 'a', revision: 2 }, 2))
  write(into, (keys) => keys.throwAway({ queue: 'q', task: 'b', revision: 2 }, 2))
  moveKeys(from, into)
  write(into, (keys) => expect([a, b].map(({ id }) => keys.find(id))).toEqual(['erased', 'erased']))
  for (const { key } of [a, b]) expect(readFileSync(into).includes(key)).toBe(false)
})

test('EV-07: if one file is a link to the other, nothing is moved, and no key is lost', () => {
  const [file, link] = [join(dir, 'file'), join(dir, 'link')]
  const a = keyOf('a')
  write(file, (keys) => keys.add([a]))
  symlinkSync(file, link)
  for (const [from, into] of [[file, link], [link, file]] as const) {
    moveKeys(from, into)
    for (const each of [file, link]) write(each, (keys) => expect(keys.find(a.id)).toEqual(a.key))
  }
})
