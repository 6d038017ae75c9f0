/** The present time, updated once a second while the tab is visible, so that ages and countdowns move together. */
import { signal } from '@preact/signals'

/** Milliseconds since 1970. */
export const now = signal(Date.now())

export const startClock = (): void =>
  void setInterval(() => {
    if (!document.hidden) now.value = Date.now()
  }, 1_000)
