/** Files of increments: each needs those on which it is based, so these are kept, and one without them is not used (INV-15). */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LadderLimits, newestRungs, openSnapshotFolder, superfluousRungs } from '@daybook/adapters/files'
import type { SnapshotBase, SnapshotStore } from '@daybook/adapters/store'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { testFolder } from './store-files.js'

const root = testFolder('increments')
let serial = 0
const newFolder = (): string => join(root, `${serial++}`)
const revisionMax = Number.MAX_SAFE_INTEGER

const baseAt = (revision: number, eventId = `event ${revision}`): SnapshotBase => ({ revision, eventId, tasks: 1 })

/** Writes a whole snapshot, or an increment to the one at the revision `base`. */
const write = async (store: SnapshotStore, revision: number, base?: number, eventId?: string): Promise<void> => {
  const writer = await store.create({ stream: 's', revision, eventId: `event ${revision}`, foldVersion: 1, ...(base === undefined ? {} : { base: baseAt(base, eventId) }) })
  await writer.page({ kind: 'head', text: `{"revision":${revision}}`, rows: 0, numbers: new Float64Array(0) })
  await writer.commit()
}

/** The usable snapshots, each with those on which it is based. */
const chains = async (store: Pick<SnapshotStore, 'list'>, max = revisionMax): Promise<ReadonlyArray<ReadonlyArray<number>>> => {
  const { usable } = await store.list('s', 1, max)
  return usable.map((snapshot) => {
    const revisions: Array<number> = []
    for (let each: typeof snapshot | undefined = snapshot; each !== undefined; each = each.base) revisions.push(each.header.revision)
    return revisions
  })
}

const revisionsIn = (dir: string): ReadonlyArray<number> => readdirSync(dir).map((name) => Number(name.split('.')[1])).sort((a, b) => a - b)

test('an increment is listed with all on which it is based', async () => {
  const store = await openSnapshotFolder(newFolder())
  await write(store, 10)
  await write(store, 20, 10)
  await write(store, 30, 20)
  expect(await chains(store)).toEqual([[30, 20, 10], [20, 10], [10]])
  expect(await chains(store, 25)).toEqual([[20, 10], [10]])
  const { usable } = await store.list('s', 1, revisionMax)
  expect(usable[0]?.header).toEqual({ stream: 's', revision: 30, eventId: 'event 30', foldVersion: 1, base: baseAt(20) })
})

test('an increment whose base is gone, damaged or of another log is skipped, and so are those that are based on it', async () => {
  for (const [what, spoil] of [
    ['gone', (file: string) => rmSync(file)],
    ['cut short', (file: string) => writeFileSync(file, readFileSync(file).subarray(0, -1))],
    ['of another log', (file: string) => writeFileSync(file, readFileSync(file, 'utf8').replace('event 20', 'event 2x'))],
  ] as const) {
    const dir = newFolder()
    const store = await openSnapshotFolder(dir)
    await write(store, 10)
    await write(store, 20, 10)
    await write(store, 30, 20)
    await write(store, 40, 30)
    spoil(join(dir, 's.20.snapshot'))
    expect((await chains(store))[0]?.[0], what).toBe(what === 'of another log' ? 20 : 10)
    const { skipped } = await store.list('s', 1, revisionMax)
    const reasons = Object.fromEntries(skipped.map(({ name, reason }) => [name, reason]))
    expect(reasons['s.30.snapshot'], what).toBe('it is an increment to the snapshot at revision 20, which cannot be used')
    expect(reasons['s.40.snapshot'], what).toBe('it is an increment to the snapshot at revision 30, which cannot be used')
  }
})

test('an increment is not begun if its base, or the base of that, is gone', async () => {
  const dir = newFolder()
  const store = await openSnapshotFolder(dir)
  await write(store, 10)
  await write(store, 20, 10)
  await expect(write(store, 30, 20, 'of another log')).rejects.toThrow('the snapshot at revision 20 is gone, and others need it')
  rmSync(join(dir, 's.10.snapshot'))
  await expect(write(store, 30, 20)).rejects.toThrow('the snapshot at revision 10 is gone, and others need it')
  expect(revisionsIn(dir)).toEqual([20])
})

test('earlier versions of the program skip increments, because these have a format version of their own', async () => {
  const dir = newFolder()
  const store = await openSnapshotFolder(dir)
  await write(store, 10)
  await write(store, 20, 10)
  const versionOf = (revision: number): unknown => (JSON.parse(readFileSync(join(dir, `s.${revision}.snapshot`), 'utf8').split('\n')[0]!) as { readonly version: unknown }).version
  expect([versionOf(10), versionOf(20)]).toEqual([4, 5])
})

test('a base is kept as long as an increment needs it, and one snapshot with another base, in case of damage', async () => {
  const dir = newFolder()
  const store = await openSnapshotFolder(dir, { keep: 2, ladder: { count: 0, bytes: 0 } })
  await write(store, 10)
  await write(store, 20, 10)
  await write(store, 30)
  for (let revision = 40; revision <= 80; revision += 10) await write(store, revision, revision - 10)
  expect(revisionsIn(dir)).toEqual([10, 20, 30, 40, 50, 60, 70, 80])
  await write(store, 90)
  expect(revisionsIn(dir)).toEqual([30, 40, 50, 60, 70, 80, 90])
  await write(store, 100)
  expect(revisionsIn(dir)).toEqual([90, 100])
})

test('increments that cannot be used are removed with the older ones', async () => {
  const dir = newFolder()
  const store = await openSnapshotFolder(dir)
  for (const revision of [10, 20, 30]) await write(store, revision, revision === 10 ? undefined : revision - 10)
  rmSync(join(dir, 's.10.snapshot'))
  await write(store, 40)
  await write(store, 50, 40)
  await write(store, 60)
  expect(revisionsIn(dir)).toEqual([40, 50, 60])
})

/** Each one is whole, or based on the one before it. */
const series = fc.array(fc.boolean(), { minLength: 1, maxLength: 40 }).map((wholes) =>
  wholes.map((isWhole, i) => ({ name: `${i}`, revision: 10 * (i + 1), bytes: 3, ...(isWhole || i === 0 ? {} : { base: 10 * i }) })))

test('EV-06: thinning out never removes a base of a snapshot that is kept, and keeps to its limits', () => {
  fc.assert(
    fc.property(series, fc.integer({ min: 1, max: 3 }), fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 60 }), (rungs, keep, count, bytes) => {
      const newestFirst = rungs.toReversed()
      const newest = newestRungs(newestFirst, keep)
      const limits: LadderLimits = { count, bytes }
      const others = newestFirst.filter((rung) => !newest.includes(rung))
      const gone = new Set(superfluousRungs(others, newestFirst[0]!.revision + 1, limits))
      const kept = rungs.filter(({ name }) => !gone.has(name))
      const revisions = new Set(kept.map(({ revision }) => revision))
      expect(kept.filter(({ base }) => base !== undefined && !revisions.has(base))).toEqual([])
      expect(kept).toEqual(expect.arrayContaining(newestFirst.slice(0, keep)))
      const older = kept.filter((rung) => !newest.includes(rung))
      expect(older.length).toBeLessThanOrEqual(count)
      expect(3 * older.length).toBeLessThanOrEqual(bytes)
      // If there are two series, one damaged file never makes all kept snapshots useless.
      const wholes = kept.filter(({ base }) => base === undefined)
      if (keep > 1 && rungs.filter(({ base }) => base === undefined).length > 1) expect(wholes.length).toBeGreaterThan(1)
    }),
  )
})
