/** Writes alerts to the server's log: those that this server raised and cleared, so that of several servers one tells. */
import { isUnreadable } from '@daybook/core'
import type { Daybook } from '../engine/index.js'
import { forEachQueue } from './each-queue.js'

/** A line of the log. */
export type AlertLine = (fields: { readonly queue: string; readonly alert: string; readonly revision: number }, text: string) => void

export const startAlertLog = (daybook: Daybook, log: AlertLine): (() => Promise<void>) =>
  forEachQueue(daybook, (engine) => {
    const queue = engine.name
    const listening = engine.committed.subscribe(({ from, events, isOwn }) => {
      if (!isOwn) return
      events.forEach((event, index) => {
        if (isUnreadable(event)) return
        const revision = from + index
        if (event.type === 'AlertRaised') log({ queue, alert: event.data.key, revision }, `alert in queue ${queue}: ${event.data.message}`)
        else if (event.type === 'AlertCleared') log({ queue, alert: event.data.key, revision }, `alert in queue ${queue} is over: ${event.data.key}`)
      })
    })
    return () => Promise.resolve(listening.unsubscribe())
  })
