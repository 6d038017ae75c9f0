/** Alerts: conditions that people should know of. */
import { alertsOf } from '@daybook/core'
import { type Handled, type QueueCall, replyWith } from '../route.js'
import { isoOf } from '../time.js'

export const list = async ({ queue }: QueueCall): Promise<Handled> =>
  replyWith(await queue.read(alertsOf), (alerts, revision) =>
    JSON.stringify({ alerts: alerts.map(({ raisedAt, ...alert }) => ({ ...alert, raisedAt: isoOf(raisedAt) })), revision }),
  )
