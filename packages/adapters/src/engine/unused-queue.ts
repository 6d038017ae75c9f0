/** An engine for a queue that was never used: reads show an empty queue. The first event creates the queue. */
import { initial, type QueueState } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { EMPTY } from 'rxjs'
import { unavailable } from './refusals.js'
import type { Outcome, QueueEngine } from './types.js'

/** The revision before the first event, whose revision is 0. */
const revision = -1

export const unusedQueue = (name: string): QueueEngine => {
  // Commands need the engine that `Daybook.open` makes.
  const refused = E.left(unavailable(`queue ${name} is not open`))
  return {
    name,
    submit: async () => refused,
    submitAll: async (commands) => commands.map(() => refused),
    claim: async () => refused,
    erase: async () => refused,
    takeBack: () => undefined,
    read: async <A>(query: (state: QueueState, at: number) => A): Promise<Outcome<A>> => E.right({ value: query(initial(name), Date.now()), revision }),
    reached: async (wanted) => wanted <= revision,
    nextSettled: async () => undefined,
    contents: async (revisions) => revisions.map(() => undefined),
    committed: EMPTY,
    status: () => ({
      queue: name,
      revision,
      deleted: null,
      mailbox: 0,
      appendsInFlight: 0,
      waitingClaims: 0,
      settledWaits: 0,
      unavailable: undefined,
      readOnly: undefined,
      clockRefusal: undefined,
      aheadMs: 0,
      unreadable: 0,
      conflicts: 0,
      snapshotRevision: -1,
      cachedContent: 0,
    }),
    close: async () => undefined,
  }
}
