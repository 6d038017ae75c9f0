/** When a batch of tasks is finished (INV-33). */
import * as t from 'io-ts'

/** When a closed batch is finished: when all of its tasks are, or as soon as nothing more happens to them by itself, so that dead letters do not hold it. */
export const BatchEnd = t.keyof({ finished: null, settled: null }, 'on')
export type BatchEnd = t.TypeOf<typeof BatchEnd>
