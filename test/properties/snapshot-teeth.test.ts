/**
 * INV-15 compares states by a text that does not come from the snapshot code, so it catches a snapshot that lacks any part. Here
 * each member of each text is left out once, and each byte of some rows of tasks is changed.
 */
import { beginIncrement, evolve, initial, noteChanges, type QueueState, skip, type SnapshotPage, snapshotPages, snapshotReader, walkTasks } from '@daybook/core'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { differenceOf, textOf } from '../support/states/index.js'
import { fixedSeed } from '../support/seed.js'
import { scenarios } from './steps.js'
import { World } from './world.js'

interface Saved {
  readonly text: string
  readonly pages: ReadonlyArray<SnapshotPage>
}
type Json = Record<string, unknown>

const load = (pages: ReadonlyArray<SnapshotPage>): QueueState => {
  const reader = snapshotReader()
  for (const page of pages) reader.page(page)
  return reader.finish()
}
/** Whether the pages are recognised as wrong: they cannot be loaded as a snapshot, or they lead to another state. */
const isCaught = ({ text, pages }: Saved): boolean => {
  try {
    return textOf(load(pages)) !== text
  } catch {
    return true
  }
}

const change = (kind: string, by: (page: SnapshotPage) => SnapshotPage) => (page: SnapshotPage): SnapshotPage => (page.kind === kind ? by(page) : page)

/** Removes a member of the text, at any depth and in every item of a list. */
const without = (path: ReadonlyArray<string>) => (page: SnapshotPage): SnapshotPage => ({ ...page, text: JSON.stringify(omit(JSON.parse(page.text), path)) })
const omit = (value: unknown, path: ReadonlyArray<string>): unknown => {
  if (Array.isArray(value)) return value.map((member) => omit(member, path))
  if (typeof value !== 'object' || value === null) return value
  const [name = '', ...rest] = path
  return Object.fromEntries(Object.entries(value).flatMap(([key, member]) => (key !== name ? [[key, member]] : rest.length > 0 ? [[key, omit(member, rest)]] : [])))
}
/** The paths of the members of a text, at any depth. The keys of a map are not part of its shape. */
const pathsIn = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap((member) => pathsIn(member, path))
  if (typeof value !== 'object' || value === null || ['unreadable', 'overrides'].includes(path.at(-1) ?? '')) return []
  return Object.entries(value).flatMap(([key, member]) => [[...path, key].join('.'), ...pathsIn(member, [...path, key])])
}

/** States during random histories. */
const saved: Array<Saved> = []
/** Members of texts, after the kind of their pages. */
let parts: ReadonlyArray<string> = []

beforeAll(() => {
  for (const scenario of fc.sample(scenarios(120), { numRuns: 150, seed: fixedSeed })) {
    const { log } = new World(() => ({})).run(scenario)
    // Half-way, after the deletion if there is one, and at the end.
    for (const length of new Set([Math.ceil(log.length / 2), log.findLastIndex(({ type }) => type === 'QueueDeleted') + 1, log.length])) {
      let state = log.slice(0, length).reduce(evolve, initial('q', 7))
      // Events that our own log never contains: one of another version, and a misfit.
      state = skip(state, 'Other', { _tag: 'Unreadable', why: 'unknown type' })
      state = evolve(state, { type: 'TaskDue', at: 0, data: { task: 'nobody' } })
      saved.push({ text: textOf(state), pages: snapshotPages(state) })
    }
  }
  parts = [...new Set(saved.flatMap(({ pages }) => pages.flatMap((page) => (page.text === '' ? [] : pathsIn(JSON.parse(page.text) as Json).map((path) => `${page.kind}.${path}`)))))]
})

describe('INV-15 has teeth: it catches a snapshot', () => {
  test('but not a complete one', () => {
    expect(saved.filter(isCaught).map(({ text, pages }) => differenceOf(text, textOf(load(pages))))).toEqual([])
    expect(parts).toEqual(expect.arrayContaining(['head.lastToken', 'head.settings.breakers.defaults', 'head.breakers.epoch', 'tasks.groups', 'tasks.agents', 'names.groups', 'names.agents']))
  })

  test('without any one member of its texts', () => {
    const missed = parts.filter((part) => {
      const [kind = '', ...path] = part.split('.')
      return !saved.some(({ text, pages }) => isCaught({ text, pages: pages.map(change(kind, without(path))) }))
    })
    expect(missed).toEqual([])
  })

  test('without one of its tasks, or with one of them twice', () => {
    for (const kind of ['tasks', 'rows']) {
      const { text, pages } = saved.find(({ pages }) => pages.some((page) => page.kind === kind && page.rows > 3))!
      const [others, these] = [pages.filter((page) => page.kind !== kind), pages.filter((page) => page.kind === kind)]
      expect(isCaught({ text, pages: [...others, ...these] })).toBe(false)
      expect(isCaught({ text, pages: [...others, ...these, ...these] })).toBe(true)
      expect(isCaught({ text, pages: others })).toBe(true)
    }
  })

  test('with another length, number, group or band of a task in its columns', () => {
    const isLarge = (page: SnapshotPage): boolean => page.kind === 'tasks' && page.rows > 3
    const { text, pages } = saved.find(({ pages }) => pages.some((page) => isLarge(page) && page.numbers.subarray(4 * page.rows, 5 * page.rows).some((isIndexed) => isIndexed === 0)))!
    const { numbers, rows } = pages.find(isLarge)!
    const isMissed = (at: number, by: number): boolean => {
      const damaged = numbers.with(at, numbers[at]! + by)
      return !isCaught({ text, pages: pages.map((page) => (page.numbers === numbers ? { ...page, numbers: damaged } : page)) })
    }
    // Of a task that gets a record at once, group and band are those of its row.
    const counts = Array.from({ length: 4 * rows }, (_, at) => at).filter((at) => at < 2 * rows || numbers[4 * rows + (at % rows)] === 0)
    expect(counts.length).toBeGreaterThan(2 * rows)
    expect(counts.filter((at) => isMissed(at, 1) || isMissed(at, -1))).toEqual([])
  })

  test.each(['rows', 'tasks'])('with another byte anywhere in the rows of a page of %s', (kind) => {
    const isLarge = (page: SnapshotPage): boolean => page.kind === kind && page.bytes!.length > 300
    const { text, pages } = saved.find(({ pages }) => pages.some(isLarge))!
    const { bytes } = pages.find(isLarge)!
    const isMissed = (at: number, flipped: number): boolean => {
      const damaged = bytes!.slice()
      damaged[at]! ^= flipped
      return !isCaught({ text, pages: pages.map((page) => (page.bytes === bytes ? { ...page, bytes: damaged } : page)) })
    }
    // Two others each: one of them may mean the same, such as a lease's end that does not exist.
    const missed = Array.from(bytes!.keys()).filter((at) => isMissed(at, 1) && isMissed(at, 2))
    expect(missed).toEqual([])
  })
})

test('INV-15 has teeth: it catches an increment that lacks any number of a task that its base has, or any task', () => {
  let numbers = 0
  let tasks = 0
  for (const scenario of fc.sample(scenarios(120), { numRuns: 12, seed: fixedSeed })) {
    const { log } = new World(() => ({})).run(scenario)
    const half = Math.ceil(log.length / 2)
    let state = log.slice(0, half).reduce(evolve, initial('q'))
    const base = snapshotPages(state)
    noteChanges(state)
    const based = new Set(walkTasks(state).next(Number.POSITIVE_INFINITY)?.flatMap((task) => (['completed', 'cancelled', 'discarded'].includes(task.status) ? [] : [task.number])))
    state = log.slice(half).reduce(evolve, state)
    const text = textOf(state)
    const increment = beginIncrement(state).next(Number.POSITIVE_INFINITY) ?? []
    const isIncrementCaught = (pages: ReadonlyArray<SnapshotPage>): boolean => {
      try {
        const reader = snapshotReader()
        pages.forEach((page) => reader.page(page))
        reader.base()
        base.forEach((page) => reader.page(page))
        return textOf(reader.finish()) !== text
      } catch {
        return true
      }
    }
    expect(isIncrementCaught(increment)).toBe(false)
    const noted = increment.find((page) => page.kind === 'changed')
    for (const number of noted?.numbers ?? []) {
      if (!based.has(number)) continue
      const others = noted!.numbers.filter((other) => other !== number)
      expect(isIncrementCaught(increment.map((page) => (page === noted ? { ...page, rows: others.length, numbers: others } : page)))).toBe(true)
      numbers++
    }
    const changed = increment.filter((page) => page.kind === 'tasks')
    if (changed.length === 0) continue
    expect(isIncrementCaught(increment.filter((page) => !changed.includes(page)))).toBe(true)
    tasks += changed.length
  }
  expect(numbers).toBeGreaterThan(40)
  expect(tasks).toBeGreaterThan(5)
})
