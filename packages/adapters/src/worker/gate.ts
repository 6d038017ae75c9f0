import { pause } from '../client/retry.js'

/** Lets everyone through who waits at it when it is opened. */
export class Gate {
  private waiting: Array<() => void> = []

  get isWaitedAt(): boolean {
    return this.waiting.length > 0
  }

  pass(): Promise<void> {
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  /** Whether it was opened or not, after so many milliseconds. */
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
