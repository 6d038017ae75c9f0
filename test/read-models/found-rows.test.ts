/** EV-04: a row that is found in the file is as it was written, and the same row until the end of the batch. */
import { maybe, type RowOf, table, text, type TableProjection } from '@daybook/projections'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { openViews, recorded, rowsOf } from './views.js'

const notes = table({
  name: 'notes',
  about: 'What was noted under a name.',
  columns: { name: text('the name'), words: maybe.text('a text'), whole: maybe.integer('a whole number'), real: maybe.real('any number') },
  key: ['name'],
})
type Note = RowOf<typeof notes>
type NoteRows = { readonly get: (name: string) => Note | undefined; readonly put: (row: Note) => void }

/** Each event is a batch, which does the next of these steps. */
const inBatches = (steps: ReadonlyArray<(rows: NoteRows) => void>): ReadonlyArray<Note> => {
  let done = 0
  const model: TableProjection = { name: 'notes', version: 1, about: '', tables: [notes], feed: ({ rows }) => ({ fold: () => steps[done++]?.(rows(notes)), settle: () => undefined }) }
  const views = openViews(':memory:', [model])
  const log = recorded(steps.map((_, at) => ({ type: 'QueueConfigured', at, data: { patch: {} } }) as const))
  // No row stays in memory after its batch.
  log.forEach((each) => views.current.take('q', [each]))
  const written = rowsOf<Note>(views, 'SELECT * FROM notes ORDER BY name')
  views.close()
  return written
}

test('texts and numbers of all kinds', () => {
  const words = fc.oneof(fc.constantFrom('a\0b', '"\\/\b\f\n\r\t', '\u2028', '\u007f\u001f', '😀é', '', '[1]', 'null'), fc.string({ unit: 'binary' }))
  const whole = fc.oneof(fc.constantFrom(0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER), fc.integer())
  const real = fc.oneof(fc.constantFrom(0.1 + 0.2, 5e-324, Number.MAX_VALUE, 1 / 3, -1e-7), fc.double({ noNaN: true }).map((value) => value + 0))
  const note = fc.record({ name: words, words: fc.option(words), whole: fc.option(whole), real: fc.option(real) })
  fc.assert(
    fc.property(note, (put) => {
      let found: Note | undefined
      inBatches([(rows) => rows.put({ ...put }), (rows) => (found = rows.get(put.name))])
      expect(found).toEqual(put)
    }),
    runs(200),
  )
})

test('what is added to a row twice in a batch counts twice', () => {
  const empty: Note = { name: 'other', words: null, whole: null, real: null }
  const add = (rows: NoteRows): void => {
    const row = rows.get('worker')
    if (row === undefined) return
    row.whole = (row.whole ?? 0) + 1
    rows.put(row)
  }
  const twice = (rows: NoteRows): void => {
    add(rows)
    rows.put(empty)
    add(rows)
  }
  expect(inBatches([(rows) => rows.put({ ...empty, name: 'worker', whole: 1 }), twice])).toEqual([empty, { ...empty, name: 'worker', whole: 3 }])
})
