/** Defects of batches: what they count, when they are finished, and what becomes of their callbacks. */
import { deciding, type Defect, folding } from './defect.js'

const isCallback = (event: { readonly type: string; readonly data: object }): boolean => event.type === 'TaskEnqueued' && 'callbackOf' in event.data

export const batchDefects: ReadonlyArray<Defect> = [
  { breaks: 'INV-33', by: 'a batch that nobody finishes', system: deciding((events) => events.filter((event) => event.type !== 'BatchFinished' && !isCallback(event))) },
  { breaks: 'INV-33', by: 'a callback that is lost', system: deciding((events) => events.filter((event, i) => !(isCallback(event) && events[i - 1]?.type === 'BatchFinished'))) },
  { breaks: 'INV-33', by: 'a batch that is finished again and again', system: folding((event) => (event.type === 'BatchFinished' ? undefined : event)) },
  { breaks: 'INV-33', by: 'a dead letter that holds no batch', system: folding((event) => (event.type === 'BatchCreated' ? { ...event, data: { ...event.data, on: 'settled' } } : event)) },
  { breaks: 'INV-33', by: 'a cancelled batch that runs its callback', system: folding((event) => (event.type === 'BatchCancelled' ? { ...event, data: { ...event.data, runsCallback: true } } : event)) },
  { breaks: 'INV-33', by: 'a closed batch that anybody may join', system: folding((event) => (event.type === 'BatchClosed' ? undefined : event)) },
]
