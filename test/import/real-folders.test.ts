import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { planImport, readQueueFolder } from '@daybook/adapters/import'
import { afterEach, describe, expect, test } from 'vitest'
import { folder } from './samples.js'

const planOf = async (path: string) => planImport((await readQueueFolder(path)).files)

describe('EV-09: folders in the shape of real ones', () => {
  const expected = [
    { name: 'sentinel', tasks: 31, statuses: ['pending'], types: ['eng-backend', 'eng-database', 'eng-frontend'] },
    { name: 'bhengu', tasks: 5, statuses: ['pending'], types: ['eng-backend', 'eng-frontend', 'eng-infra'] },
    { name: 'ralph2', tasks: 12, statuses: ['completed'], types: ['dev', 'setup'] },
  ] as const

  test.each(expected)('$name: $tasks tasks, none refused, dependencies first', async ({ name, tasks, statuses, types }) => {
    const plan = await planOf(folder(name))
    expect(plan.refused).toEqual([])
    expect(plan.took).toHaveLength(tasks)
    expect([...new Set(plan.took.map((task) => task.status))]).toEqual(statuses)
    expect([...new Set(plan.took.map((task) => task.type))].sort()).toEqual(types)
    const seen = new Set<string>()
    for (const task of plan.took) {
      for (const dependency of task.dependencies ?? []) expect(seen).toContain(dependency)
      seen.add(task.id)
    }
  })
})

describe('EV-09: a folder', () => {
  let dir = ''
  const make = (files: Record<string, string | Uint8Array>): string => {
    dir = mkdtempSync(join(tmpdir(), 'daybook-import-'))
    for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
    return dir
  }
  afterEach(() => rmSync(dir, { recursive: true, force: true }))

  test('one bad file is refused by name, the others are taken', async () => {
    const plan = await planOf(make({
      'pending.json': '[{"id":"a","type":"x"}]',
      'completed.json': '{"tasks":[{"id":"b"',
      'failed.json': '',
      'cancelled.json': new Uint8Array([0xff, 0xfe, 0x00]),
      'notes.md': 'not a queue file',
    }))
    expect(plan.took.map(({ id }) => id)).toEqual(['a'])
    expect(plan.refused.map(({ file }) => file)).toEqual(['cancelled.json', 'completed.json', 'failed.json'])
  })

  test('neighbours that may contain tasks are reported: other folders, other kinds of files', async () => {
    const path = make({ 'pending.json': '["x"]', 'more.jsonl': '{}', 'notes.md': '' })
    mkdirSync(join(path, 'archive'))
    writeFileSync(join(path, 'archive', 'old.json'), '["y"]')
    mkdirSync(join(path, 'empty'))
    const { refused } = await planOf(path)
    expect(refused).toEqual([
      { file: 'archive/', why: 'is not read: a folder with 1 .json file of its own; import it by itself', tasks: 0 },
      { file: 'more.jsonl', why: 'is not read: tasks are taken from .json files', tasks: 0 },
    ])
  })

  test('in a project, the folder with queue files is read, whatever .json files are above it', async () => {
    const path = make({ 'package.json': '{"name":"x"}' })
    const queue = join(path, '.loki', 'queue')
    mkdirSync(queue, { recursive: true })
    writeFileSync(join(queue, 'pending.json'), '["x"]')
    expect(await readQueueFolder(path)).toMatchObject({ dir: queue, files: [{ name: 'pending.json', entries: 1, refused: [] }] })
    expect((await readQueueFolder(join(path, '.loki'))).dir).toBe(queue)
  })

  test('of a project with two folders of queue files, the one that is not read is left out by name: it may be the one that is in use', async () => {
    const path = make({ 'package.json': '{"name":"x"}' })
    for (const folder of [join(path, 'queue'), join(path, '.loki', 'queue')]) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'pending.json'), JSON.stringify([folder]))
    }
    const left = { file: '.loki/queue/', why: 'is not read: a folder with 1 .json file of its own; import it by itself', tasks: 0 }
    const { dir: read, files } = await readQueueFolder(path)
    expect([read, files.flatMap(({ refused }) => refused)]).toEqual([join(path, 'queue'), [left]])
    writeFileSync(join(path, 'tasks.json'), '[]')
    expect((await readQueueFolder(path)).files.flatMap(({ refused }) => refused)).toEqual(expect.arrayContaining([left, { ...left, file: 'queue/' }]))
  })

  test('a single file can be imported', async () => {
    const { files } = await readQueueFolder(join(make({ 'pending.json': '["x"]' }), 'pending.json'))
    expect(files.map(({ name, found }) => [name, found.length])).toEqual([['pending.json', 1]])
  })

  test('without any .json in it, it is an error that says what was looked for', async () => {
    await expect(readQueueFolder(make({}))).rejects.toThrow('holds no .json files')
    await expect(readQueueFolder(join(dir, 'nowhere'))).rejects.toThrow('ENOENT')
  })
})
