/** How long the feed rests after a batch. */
import { restAfter } from '@daybook/adapters/read-models'
import { expect, test } from 'vitest'

test.each([
  { name: 'nobody appended: not at all', ms: 100, events: 4_000, appended: 0, isNextFull: false, rest: 0 },
  { name: 'nobody appended, far behind: not at all', ms: 600, events: 50_000, appended: 0, isNextFull: true, rest: 0 },
  { name: 'near the end: as long as the batch, however little was appended', ms: 100, events: 4_000, appended: 1, isNextFull: false, rest: 100 },
  { name: 'near the end: 200 ms at most', ms: 600, events: 4_000, appended: 1, isNextFull: false, rest: 200 },
  { name: 'far behind, beside a little work: a little', ms: 600, events: 50_000, appended: 1_000, isNextFull: true, rest: 12 },
  { name: 'far behind, beside those who append faster than it folds: 200 ms at most', ms: 250, events: 20_000, appended: 40_000, isNextFull: true, rest: 200 },
  { name: 'far behind, after a short batch beside much work: longer than the batch', ms: 50, events: 20_000, appended: 40_000, isNextFull: true, rest: 100 },
])('EV-04: $name', ({ rest, ...batch }) => {
  expect(restAfter(batch)).toBe(rest)
})
