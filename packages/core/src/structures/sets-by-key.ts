/** An index with a set of items for each key. Keys without items are removed. */
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
