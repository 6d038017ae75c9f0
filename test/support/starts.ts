/** Starts from snapshots, to be compared with the fold of the whole log (INV-15). */
import { openMemoryStore } from '@daybook/adapters/memory'
import type { EventStore, SnapshotStore } from '@daybook/adapters/store'
import { differenceOf } from './states/index.js'
import { memorySnapshots, type MemorySnapshots } from './memory-snapshots.js'
import { foldAll, logOf, openQueue, stateText, textOf } from './queue.js'

/** Throws if a queue that starts with these snapshots has another state than the fold of its log. */
export const startsAsFromZero = async (store: EventStore, snapshots: SnapshotStore): Promise<void> => {
  const { engine } = await openQueue({ store, snapshots })
  const [text, zero] = [await stateText(engine), textOf(foldAll(await logOf(store)))]
  if (text !== zero) throw new Error(`INV-15: the start from a snapshot differs from the fold from zero:\n${differenceOf(text, zero)}`)
}

/** Lists this snapshot as the newest: an increment needs older ones. */
export const upTo = (newest: MemorySnapshots['kept'][number], { kept }: MemorySnapshots): SnapshotStore['list'] => {
  const some = memorySnapshots()
  some.kept.push(...kept.slice(0, kept.indexOf(newest) + 1))
  return some.list
}
/** Another store with the same log, as after a restart. */
export const openCopy = (log: Awaited<ReturnType<typeof logOf>>): EventStore => {
  const store = openMemoryStore()
  const { appendEventsMax } = store.limits
  for (let from = 0; from < log.length; from += appendEventsMax) void store.append(log[0]!.stream, log.slice(from, from + appendEventsMax), from === 0 ? 'no_stream' : from - 1)()
  return store
}
