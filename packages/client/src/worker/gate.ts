import { pause } from '../transport/retry.js'

/** Lets callers wait until it is opened. Opening it resolves all that wait at that moment. */
export class Gate {
  private waiting = new Set<() => void>()

  get isWaitedAt(): boolean {
    return this.waiting.size > 0
  }

  pass(): Promise<void> {
    return new Promise((resolve) => this.waiting.add(resolve))
  }

  /** Resolves when the gate is opened, or after `ms` milliseconds. */
  async passWithin(ms: number): Promise<void> {
    const enough = new AbortController()
    const opened = (): void => enough.abort()
    this.waiting.add(opened)
    await pause(ms, enough.signal)
    this.waiting.delete(opened)
  }

  open(): void {
    if (this.waiting.size === 0) return
    const { waiting } = this
    this.waiting = new Set()
    for (const resolve of waiting) resolve()
  }
}
