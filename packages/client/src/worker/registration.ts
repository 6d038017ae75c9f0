/**
 * Keeps a worker registered while it runs, so that the queue knows what it can take, and ends the registration when it stops. The worker works
 * without it. So a queue that does not exist yet, an older server or an outage is not reported; the registration is tried again.
 */
import type { OnWorkerEvent } from './events.js'
import type { WorkerConfig } from './options.js'
import { codeOf } from './refusals.js'
import type { SourceRegistration, TaskSource } from './source.js'

/** How long the registration lasts after the last sign of life, and how often it is renewed. In seconds. */
const ttlSeconds = 600
const renewSeconds = 200
/** The pause before another try, in seconds. */
const againSeconds = 10
/** How long ending the registration may delay a stop, in milliseconds. */
const goodbyeMs = 1_000

export class Registration {
  private timer: NodeJS.Timeout | undefined
  private isOver = false
  private isRegistered = false
  private wasRefused = false
  private readonly abilities: Omit<SourceRegistration, 'ttlSeconds'>

  constructor(
    private readonly source: TaskSource,
    { agentId, isNameMade, types, phases, skills, tenant, concurrency, prefetchMax }: WorkerConfig,
    private readonly tell: OnWorkerEvent,
  ) {
    // A name that was given may be in use by other processes, and an earlier one may still hold tasks under it. A limit would hold for them as well.
    const maxTasks = isNameMade ? concurrency + prefetchMax : undefined
    this.abilities = { agentId, types, phases, skills, tenant, maxTasks }
  }

  async begin(): Promise<void> {
    const isDone = await this.send(ttlSeconds)
    if (this.isOver) return
    this.timer = setTimeout(() => void this.begin(), (isDone ? renewSeconds : againSeconds) * 1_000)
    this.timer.unref()
  }

  /** Ends the registration now, instead of after a time of silence. */
  async end(): Promise<void> {
    this.isOver = true
    clearTimeout(this.timer)
    if (!this.isRegistered) return
    await Promise.race([this.send(0.001), new Promise((resolve) => setTimeout(resolve, goodbyeMs).unref())])
  }

  private async send(seconds: number): Promise<boolean> {
    try {
      await this.source.register?.({ ...this.abilities, ttlSeconds: seconds })
      this.isRegistered = this.source.register !== undefined
      return true
    } catch (error) {
      if (codeOf(error) === 'conflict' && !this.wasRefused) {
        this.wasRefused = true
        this.tell({ type: 'registration-refused', error })
      }
      return false
    }
  }
}
