/** The tasks of a recording by id. An id may be given again; it then means the next task with that id. */
import type { EventOf, QueueEvent } from '@daybook/core'
import type { TaskPlaces } from '../simulate/ledger.js'
import type { Recording } from './recording.js'

export const taskPlaces = ({ tasks }: Recording): TaskPlaces => {
  const byId = new Map<string, Array<number>>()
  const now = new Map<string, number>()
  for (const [index, { facts, before }] of tasks.entries()) {
    if (before !== undefined) {
      now.set(facts.task, index)
      continue
    }
    const same = byId.get(facts.task)
    if (same === undefined) byId.set(facts.task, [index])
    else same.push(index)
  }
  return {
    enter: (id) => {
      const index = byId.get(id)?.shift()
      if (index !== undefined) now.set(id, index)
      return index
    },
    of: (id) => now.get(id),
  }
}

/** Whether the event brings a task of the recording into the queue. Finished tasks that were imported are not part of the recording. */
export const isEntered = (event: QueueEvent): event is EventOf<'TaskEnqueued' | 'TaskImported'> =>
  event.type === 'TaskEnqueued' || (event.type === 'TaskImported' && event.data.status === 'dead-letter')
