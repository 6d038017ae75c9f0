/** Calls `ring` once after `ms` milliseconds; for `Infinity`, never. The returned function cancels it. */
export type Timers = (ms: number, ring: () => void) => () => void
