/** EV-04: a statement binds only the values that are not null, and there is one for each set of nulls, up to a number of them. */
import { integer, maybe, table, type TableProjection } from '@daybook/projections'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { openViews, recorded, rowsOf } from './views.js'

const optional = Array.from({ length: 8 }, (_, i) => `c${i}`)
type Row = { key: number } & Record<string, number | null>

/** The rows that are put when a batch ends. */
const written = (columns: ReadonlyArray<string>, isWriteOnly: boolean): { readonly model: TableProjection; readonly puts: Array<Row>; readonly names: ReadonlyArray<string> } => {
  const puts: Array<Row> = []
  const noted = table({
    name: 'noted', about: 'Numbers.', columns: { key: integer('its number'), ...Object.fromEntries(columns.map((name) => [name, maybe.integer(name)])) }, key: ['key'], ...(isWriteOnly ? { isWriteOnly } : {}),
  } as const)
  const model: TableProjection = {
    name: 'noted', version: 1, about: 'Numbers.', tables: [noted],
    feed: ({ rows }) => ({
      fold: () => undefined,
      settle: () => {
        for (const row of puts.splice(0)) {
          const known = isWriteOnly ? undefined : rows(noted).get(row.key)
          // A row that was found is changed, any other is added.
          rows(noted).put(known === undefined ? row : Object.assign(known, row))
        }
      },
    }),
  }
  return { model, puts, names: ['key', ...columns] }
}

const event = (at: number) => ({ type: 'QueueConfigured', at, data: { patch: {} } }) as const

for (const [what, columns, isWriteOnly] of [['that are found again', optional, false], ['that are only written', optional, true], ['of more columns than a number has bits', Array.from({ length: 60 }, (_, i) => `c${i}`), false]] as const) {
  test(`EV-04: rows ${what} are as they were put, whatever is null`, () => {
    // A value of each column, so that one in another column is seen.
    const row = fc.record({ key: fc.integer({ min: 1, max: 400 }), nulls: fc.bigInt({ min: 0n, max: 2n ** BigInt(columns.length) - 1n }) })
      .map(({ key, nulls }): Row => ({ key, ...Object.fromEntries(columns.map((name, i) => [name, (nulls >> BigInt(i)) % 2n === 1n ? null : key * 100 + i])) }))
    fc.assert(
      fc.property(fc.array(fc.array(row, { minLength: 1, maxLength: 300, size: 'max' }), { minLength: 1, maxLength: 4 }), (batches) => {
        const { model, puts, names } = written(columns, isWriteOnly)
        const views = openViews(':memory:', [model])
        const log = recorded(batches.map((_, i) => event(i)))
        const kept = new Map<number, Row>()
        batches.forEach((batch, i) => {
          // Once each in a batch: which of two is written last is not asked here.
          const rows = [...new Map(batch.map((each) => [each.key, each])).values()]
          puts.push(...rows.map((each) => ({ ...each })))
          views.current.take('q', log.slice(i, i + 1))
          for (const each of rows) kept.set(each.key, each)
        })
        expect(rowsOf<Row>(views, `SELECT ${names.join(', ')} FROM noted ORDER BY key`)).toEqual([...kept.values()].sort((a, b) => a.key - b.key))
        views.close()
      }),
      // Not made smaller: that would take minutes, and the rows say enough.
      { ...runs(20), endOnFailure: true },
    )
  })
}
