import { pause } from '../transport/retry.js'

/** Lets callers wait until it is opened. Opening it resolves all that wait at that moment. */
export class Gate {
  private waiting: Array<() => void> = []

  get isWaitedAt(): boolean {
    return this.waiting.length > 0
  }

  pass(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  /** Resolves when the gate is opened, or after `ms` milliseconds. */
  async passWithin(ms: number): Promise<void> {
    const enough = new AbortController()
    void this.pass().then(() => enough.abort())
    await pause(ms, enough.signal)
  }

  open(): void {
    if (this.waiting.length === 0) return
    const waiting = this.waiting
    this.waiting = []
    for (const resolve of waiting) resolve()
  }
}
