/** Calls `ring` once after `ms` milliseconds, never for `Infinity`. The returned function cancels it. */
export type Timers = (ms: number, ring: () => void) => () => void
