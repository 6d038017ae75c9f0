/** Whether the log of a queue is unchanged (EV-07). */
import * as E from 'fp-ts/lib/Either.js'
import { shownVerdict, type Verifications } from '../../chain/index.js'
import { streamOf } from '../../engine/index.js'
import type { Handled, QueueCall } from '../routes/route.js'

export const verifyOf =
  (verifications: Verifications) =>
  async ({ queue }: QueueCall): Promise<Handled> => {
    const verdict = await verifications.verify(streamOf(queue.name))
    return E.right({ status: 200, revision: verdict.head.revision, text: JSON.stringify(shownVerdict(verdict)) })
  }
