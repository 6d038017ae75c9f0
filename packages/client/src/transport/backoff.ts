export interface BackoffOptions {
  readonly firstMs: number
  readonly mostMs: number
  /** Returns a number in [0, 1). */
  readonly random: () => number
}

export interface Backoff {
  /** The next delay: twice the last one, up to the maximum, less a random share of up to a half. */
  readonly next: () => number
  readonly reset: () => void
}

export const backoff = ({ firstMs, mostMs, random }: BackoffOptions): Backoff => {
  let ms = firstMs
  return {
    next: () => {
      const chosen = ms * (1 - random() / 2)
      ms = Math.min(ms * 2, mostMs)
      return chosen
    },
    reset: () => {
      ms = firstMs
    },
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
