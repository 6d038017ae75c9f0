/** Indexes with several items for each key. Keys without items are removed. */
import type { SortedList } from './sorted-list.js'

export const addTo = <K, T>(index: Map<K, Set<T>>, key: K, item: T): void => {
  const known = index.get(key)
  if (known === undefined) index.set(key, new Set([item]))
  else known.add(item)
}

export const removeFrom = <K, T>(index: Map<K, Set<T>>, key: K, item: T): void => {
  const known = index.get(key)
  if (known === undefined) return
  known.delete(item)
  if (known.size === 0) index.delete(key)
}

export const addToList = <K, T>(index: Map<K, SortedList<T>>, key: K, item: T, newList: () => SortedList<T>): void => {
  let known = index.get(key)
  if (known === undefined) index.set(key, (known = newList()))
  known.add(item)
}

export const removeFromList = <K, T>(index: Map<K, SortedList<T>>, key: K, item: T): void => {
  const known = index.get(key)
  known?.remove(item)
  if (known?.size === 0) index.delete(key)
}
