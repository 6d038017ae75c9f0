/** Measures how much a claim has to look at. */
import { QueueState } from '@daybook/core/testing'

/** How many times a task was compared with others by its priority or score while `work` ran. */
export const comparisonsOf = (state: QueueState, work: () => void): number => {
  const { places } = QueueState.tablesOf(state).ready
  const { policy } = places
  let compared = 0
  places.policy = {
    ...policy,
    rank: (task, at) => {
      compared++
      return policy.rank(task, at)
    },
  }
  try {
    work()
  } finally {
    places.policy = policy
  }
  return compared
}
