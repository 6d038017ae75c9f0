/** The present time of the server, updated once a second while the tab is visible, so that ages and countdowns move together. */
import { signal } from '@preact/signals'
import { serverNow } from '../api/server-time.js'

/** Milliseconds since 1970. */
export const now = signal(serverNow())

export const startClock = (): void =>
  void setInterval(() => {
    if (!document.hidden) now.value = serverNow()
  }, 1_000)
