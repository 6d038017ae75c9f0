/** Measures how much a question has to look at. */
import { QueueState } from '@daybook/core/testing'

/** How many kinds of groups, groups and unfinished tasks had a field read while `work` ran. `work` must not change the state. */
export const looksOf = (state: QueueState, work: () => void): number => {
  const { kinds, shares, unfinished } = QueueState.tablesOf(state)
  const looked = new Set<object>()
  const watched = [
    ...Array.from(kinds.all(), (kind) => watch(kind, ['key', 'type', 'ready'], looked)),
    ...Array.from(shares.groups(), (group) => watch(group, ['kind', 'share', 'ready', 'readyTasks'], looked)),
    ...Array.from(unfinished.values(), (task) => watch(task, ['group', 'status', 'priority'], looked)),
  ]
  try {
    work()
  } finally {
    for (const unwatch of watched) unwatch()
  }
  return looked.size
}

/** Adds the record to `looked` when one of these fields is read. The returned function ends this. */
const watch = <T extends object>(record: T, fields: ReadonlyArray<keyof T>, looked: Set<object>): (() => void) => {
  const values = fields.map((field) => [field, record[field]] as const)
  for (const [field, value] of values) {
    const get = (): T[keyof T] => {
      looked.add(record)
      return value
    }
    Object.defineProperty(record, field, { get, configurable: true, enumerable: true })
  }
  return () => {
    for (const [field, value] of values) Object.defineProperty(record, field, { value, writable: true, configurable: true, enumerable: true })
  }
}
