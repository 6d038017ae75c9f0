/** Writes alerts to the server's log: only those that this server raised or cleared, so that each alert is logged by one of several servers. */
import { isUnreadable } from '@daybook/core'
import type { QueueEngine } from '../engine/index.js'

/** A line of the log. */
export type AlertLine = (fields: { readonly queue: string; readonly alert: string; readonly revision: number }, text: string) => void

/** Called for each queue when it is opened, because alerts may be due at once. */
export const logAlerts =
  (log: AlertLine) =>
  ({ name: queue, committed }: QueueEngine): void => {
    committed.subscribe(({ from, events, isOwn }) => {
      if (!isOwn) return
      events.forEach((event, index) => {
        if (isUnreadable(event)) return
        const revision = from + index
        if (event.type === 'AlertRaised') log({ queue, alert: event.data.key, revision }, `alert in queue ${queue}: ${event.data.message}`)
        else if (event.type === 'AlertCleared') log({ queue, alert: event.data.key, revision }, `alert in queue ${queue} is over: ${event.data.key}`)
      })
    })
  }
