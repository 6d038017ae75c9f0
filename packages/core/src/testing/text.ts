import type { QueueState } from '../queue-state.js'
import type { SnapshotPage } from '../snapshot-page.js'
import { snapshotPages } from '../snapshot.js'

/** A state as text, to be compared and looked at: equal for equal states. */
export const textOf = (state: QueueState): string => snapshotPages(state).map(pageText).join('\n')

/** What is no number, then a line for each task. */
const pageText = ({ text, rows, numbers }: SnapshotPage): string => {
  const lines = Array.from({ length: rows }, (_, row) => numbers.filter((__, at) => at % rows === row).join(' '))
  return [text, ...lines].join('\n')
}
