/** Searches of the embedded memory by words: those that very many memories have, and those of any script (TQM-MEM-001). */
import { type MemoryBank, openSqliteBank } from '@daybook/adapters/memory-bank'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

/** More than one search reads. */
const many = 20_500
const never = new AbortController().signal

describe('words that more memories have than one search reads', () => {
  let bank: MemoryBank | undefined
  const remember = (memories: ReadonlyArray<readonly [task: string, goal: string, queue?: string]>) =>
    bank?.remember(memories.map(([task, goal, queue = 'q']) => ({ id: `${queue}:${task}:1`, queue, task, type: 'mail', at: '2026-11-30T00:00:00.000Z', goal })))
  const found = async (description: string, queue = 'q'): Promise<ReadonlyArray<string>> =>
    ((await bank?.recall(queue, [{ description, limit: 4 }], never))?.[0] ?? []).map(({ task }) => task)

  beforeAll(async () => {
    bank = openSqliteBank(':memory:')
    await remember([['first', 'deploy the gearbox of the release'], ['second', 'clean the gearbox']])
    await remember(Array.from({ length: many }, (_, i) => [`m${i}`, 'deploy the release'] as const))
    await remember([['third', 'deploy a gearbox'], ['newest', 'deploy with care'], ['elsewhere', 'deploy the release', 'other']])
  })
  afterAll(() => bank?.close())

  test('a rare word finds its memories, old ones too; common words beside it, and words that no memory has, change nothing', async () => {
    for (const description of ['gearbox', 'deploy gearbox release', 'deploy gearbox unheard']) expect([...(await found(description))].sort()).toEqual(['first', 'second', 'third'])
    // No memory needs to have all of them.
    expect([...(await found('clean with care'))].sort()).toEqual(['newest', 'second'])
  })

  test('common words alone find the newest memories that have most of them', async () => {
    expect(await found('deploy')).toEqual(['newest', 'third', `m${many - 1}`, `m${many - 2}`])
    expect(await found('deploy release unheard')).toEqual([1, 2, 3, 4].map((back) => `m${many - back}`))
  })

  test('only those of the queue are found, and none for words that no memory has', async () => {
    expect(await found('deploy release', 'other')).toEqual(['elsewhere'])
    expect(await found('gearbox', 'other')).toEqual([])
    expect(await found('unheard')).toEqual([])
    expect(await found('!?')).toEqual([])
  })
})

test.each([
  ['an accent that is a character of its own', 'naïve'.normalize('NFD'), 'a naïve parser'],
  ['a letter whose small form has such an accent', 'İzmir', 'deploy to İzmir'],
  ['vowel signs', 'हिन्दी', 'translate into हिन्दी'],
])('TQM-MEM-001: a word is found that has %s', async (_, word, goal) => {
  const bank = openSqliteBank(':memory:')
  await bank.remember([{ id: 'q:a:1', queue: 'q', task: 'a', type: 'mail', at: '2026-11-30T00:00:00.000Z', goal }])
  const [found = []] = await bank.recall('q', [{ description: word, limit: 4 }], never)
  expect(found.map(({ task }) => task)).toEqual(['a'])
  await bank.close()
})
