/** The present, once a second while somebody looks, so that ages and countdowns move together. */
import { signal } from '@preact/signals'

/** Milliseconds since 1970. */
export const now = signal(Date.now())

export const startClock = (): void =>
  void setInterval(() => {
    if (!document.hidden) now.value = Date.now()
  }, 1_000)
