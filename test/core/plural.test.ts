/** Counts in messages. */
import { plural, theFirst } from '@daybook/core'
import { expect, test } from 'vitest'

test('one is singular, and nothing else is', () => {
  expect([0, 1, 2].map((count) => plural(count, 'task'))).toEqual(['0 tasks', '1 task', '2 tasks'])
  expect([1, 3].map((count) => plural(count, 'entry', 'entries'))).toEqual(['1 entry', '3 entries'])
  expect([1, 3].map((count) => theFirst(count, 'event'))).toEqual(['the first event is', 'the first 3 events are'])
})
