/** Alerts: conditions that people should know of. */
import { alertsOf } from '@daybook/core'
import { type Handled, replyWith, type ViewCall } from '../routes/route.js'
import { isoOf } from '../../iso-time.js'

export const list = async ({ queue }: ViewCall): Promise<Handled> =>
  replyWith(await queue.read(alertsOf), (alerts, revision) =>
    JSON.stringify({ alerts: alerts.map(({ raisedAt, ...alert }) => ({ ...alert, raisedAt: isoOf(raisedAt) })), revision }),
  )
