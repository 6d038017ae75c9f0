/**
 * INV-15 compares states by a text of their own, and not by what a snapshot holds: so a snapshot's writer that leaves out any part is
 * caught, whatever the part. Each column of numbers, and each member of each text, is left out once.
 */
import { evolve, initial, type QueueState, skip, type SnapshotPage, snapshotPages, snapshotReader } from '@daybook/core'
import { differenceOf, textOf } from '@daybook/core/testing'
import * as fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { runSeed } from '../support/seed.js'
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
/** Whether a start from these pages is noticed to be wrong: they do not read as a snapshot, or lead to another state. */
const isCaught = ({ text, pages }: Saved): boolean => {
  try {
    return textOf(load(pages)) !== text
  } catch {
    return true
  }
}

const withoutColumn = (column: number) => (page: SnapshotPage): SnapshotPage => {
  const numbers = page.numbers.slice()
  return { ...page, numbers: numbers.fill(0, column * page.rows, (column + 1) * page.rows) }
}
/** Without a member of its text, at any depth: a list is gone through. */
const without = (path: ReadonlyArray<string>) => (page: SnapshotPage): SnapshotPage => ({ ...page, text: JSON.stringify(omit(JSON.parse(page.text), path)) })
const omit = (value: unknown, path: ReadonlyArray<string>): unknown => {
  if (Array.isArray(value)) return value.map((member) => omit(member, path))
  if (typeof value !== 'object' || value === null) return value
  const [name = '', ...rest] = path
  return Object.fromEntries(Object.entries(value).flatMap(([key, member]) => (key !== name ? [[key, member]] : rest.length > 0 ? [[key, omit(member, rest)]] : [])))
}
/** The members of a text, at any depth, as paths; what a map is keyed by is no part of its shape. */
const pathsIn = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  if (Array.isArray(value)) return value.flatMap((member) => pathsIn(member, path))
  if (typeof value !== 'object' || value === null || ['unreadable', 'overrides'].includes(path.at(-1) ?? '')) return []
  return Object.entries(value).flatMap(([key, member]) => [[...path, key].join('.'), ...pathsIn(member, [...path, key])])
}

/** States on the way of random histories. */
const saved: Array<Saved> = []
let columns = 0
let parts: ReadonlyArray<string> = []

beforeAll(() => {
  for (const scenario of fc.sample(scenarios(120), { numRuns: 150, seed: runSeed })) {
    const { log } = new World(() => ({})).run(scenario)
    // Half-way, when it was deleted if it was, and at the end.
    for (const length of new Set([Math.ceil(log.length / 2), log.findLastIndex(({ type }) => type === 'QueueDeleted') + 1, log.length])) {
      let state = log.slice(0, length).reduce(evolve, initial('q'))
      // Never in a log of our own: an event of another version, and one that does not fit.
      state = skip(state, 'Other', { _tag: 'Unreadable', why: 'unknown type' })
      state = evolve(state, { type: 'TaskDue', at: 0, data: { task: 'nobody' } })
      saved.push({ text: textOf(state), pages: snapshotPages(state) })
    }
  }
  const tasks = saved.flatMap(({ pages }) => pages.slice(1))
  columns = Math.max(...tasks.map(({ numbers, rows }) => numbers.length / rows))
  parts = [...new Set(saved.flatMap(({ pages }) => pages.flatMap((page) => pathsIn(JSON.parse(page.text) as Json))))]
})

describe('INV-15 has teeth: it catches a snapshot', () => {
  test('that is whole as it is', () => {
    expect(saved.filter(isCaught).map(({ text, pages }) => differenceOf(text, textOf(load(pages))))).toEqual([])
    expect(columns).toBeGreaterThan(15)
    expect(parts).toEqual(expect.arrayContaining(['lastToken', 'settings.breakers.defaults', 'breakers.epoch', 'extras.claimants', 'dependencies']))
  })

  test('without any one of its columns, as a lease’s epoch or its end', () => {
    const missed = Array.from({ length: columns }, (_, column) => column).filter(
      (column) => !saved.some(({ text, pages }) => isCaught({ text, pages: [pages[0]!, ...pages.slice(1).map(withoutColumn(column))] })),
    )
    expect(missed).toEqual([])
  })

  test('without any one member of its texts', () => {
    const missed = parts.filter((part) => !saved.some(({ text, pages }) => isCaught({ text, pages: pages.map(without(part.split('.'))) })))
    expect(missed).toEqual([])
  })

  test('without one of its tasks, or with one twice', () => {
    const [head, tasks] = saved.find(({ pages }) => (pages[1]?.rows ?? 0) > 3)!.pages
    const { text } = saved.find(({ pages }) => pages[1] === tasks)!
    expect(isCaught({ text, pages: [head!, tasks!, tasks!] })).toBe(true)
    expect(isCaught({ text, pages: [head!] })).toBe(true)
  })
})
