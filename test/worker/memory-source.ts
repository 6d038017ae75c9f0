/** A queue in memory behind the worker's port, with leases that end, tokens that grow, and faults that a test sets. */
import type { ClaimedWork, Heartbeat, HeartbeatAnswer, SettleAnswer, SettleOutcome, SourceClaim, TaskSource } from '@daybook/adapters/worker'

export interface MemoryTask {
  readonly id: string
  readonly number: number
  readonly payload: unknown
  status: 'pending' | 'in-progress' | 'completed' | 'failed' | 'incomplete'
  token: number
  agent: string
  leaseEndsAt: number
  /** No heartbeat extends it beyond this. */
  leaseEndsMax: number
  leaseMs: number
  checkpoint: unknown
  progress: unknown
  /** Agents that released it. */
  readonly barred: Set<string>
  /** All accepted outcomes of the task. */
  readonly outcomes: Array<SettleOutcome>
}

/** The fields that all tasks of this source have. */
const common = { type: 'work', priority: 5, attempt: 1, attemptsMax: 3, dependencies: [], createdAt: '2026-01-05T09:00:00.000Z' } as const

export class MemorySource implements TaskSource {
  readonly tasks = new Map<string, MemoryTask>()
  readonly claims: Array<SourceClaim & { readonly got: number; readonly at: number }> = []
  readonly settles: Array<{ readonly outcomes: ReadonlyArray<SettleOutcome>; readonly attempt: string; readonly at: number }> = []
  readonly heartbeats: Array<ReadonlyArray<Heartbeat>> = []
  leaseMs = 60_000
  /** Of all tasks that are claimed from now on. */
  maxRunSeconds: number | undefined
  waiting = 0
  /** The largest number of tasks leased at a time. */
  heldMax = 0
  private lastToken = 0
  private wake: Array<() => void> = []
  /** Runs before each call. If it throws, the call rejects with that error. */
  beforeClaim: () => void | Promise<void> = () => undefined
  beforeSettle: () => void | Promise<void> = () => undefined
  beforeHeartbeat: () => void | Promise<void> = () => undefined
  /** Runs after a claim has taken tasks, before its answer. */
  beforeClaimAnswer: () => void | Promise<void> = () => undefined
  /** Runs after leases have been extended, before the answer. */
  beforeHeartbeatAnswer: () => void | Promise<void> = () => undefined
  /** Runs after an accepted call. If it throws, the answer is lost. */
  afterSettle: () => void = () => undefined
  refuseOutcome: (outcome: SettleOutcome) => SettleAnswer | undefined = () => undefined
  refuseHeartbeat: (heartbeat: Heartbeat) => HeartbeatAnswer | undefined = () => undefined

  add(count: number, payload: (n: number) => unknown = (n) => n): ReadonlyArray<string> {
    const ids: Array<string> = []
    for (let i = 0; i < count; i++) {
      const number = this.tasks.size + 1
      const id = `t${number}`
      this.tasks.set(id, { id, number, payload: payload(i), status: 'pending', token: 0, agent: '', leaseEndsAt: 0, leaseEndsMax: 0, leaseMs: 0, checkpoint: undefined, progress: undefined, barred: new Set(), outcomes: [] })
      ids.push(id)
    }
    this.wakeAll()
    return ids
  }

  task(id: string): MemoryTask {
    const task = this.tasks.get(id)
    if (task === undefined) throw new Error(`no task ${id}`)
    return task
  }

  count(status: MemoryTask['status']): number {
    return [...this.tasks.values()].filter((task) => task.status === status).length
  }

  /** A failed task is tried again. */
  requeue(id: string): void {
    this.task(id).status = 'pending'
    this.wakeAll()
  }

  /** Takes the task away: its lease is lost. */
  revoke(id: string): void {
    const task = this.task(id)
    task.token = ++this.lastToken
    task.leaseEndsAt = Number.POSITIVE_INFINITY
    task.status = 'in-progress'
    task.agent = 'another'
  }

  async claim(request: SourceClaim, signal: AbortSignal): Promise<ReadonlyArray<ClaimedWork>> {
    await this.beforeClaim()
    const arrivedAt = performance.now()
    const until = performance.now() + request.waitMs
    for (;;) {
      const works = signal.aborted ? [] : this.grant(request, performance.now() - arrivedAt)
      const left = until - performance.now()
      if (works.length > 0 || left <= 0 || signal.aborted) {
        this.claims.push({ ...request, got: works.length, at: performance.now() })
        if (works.length > 0) await this.beforeClaimAnswer()
        return works
      }
      await this.sleep(left, signal)
    }
  }

  async settle(outcomes: ReadonlyArray<SettleOutcome>, attempt: string): Promise<ReadonlyArray<SettleAnswer>> {
    this.settles.push({ outcomes, attempt, at: performance.now() })
    await this.beforeSettle()
    const answers = outcomes.map((outcome): SettleAnswer => {
      const refused = this.refuseOutcome(outcome) ?? this.notHeld(outcome.taskId, outcome.token)
      if (refused !== undefined) return refused
      const task = this.task(outcome.taskId)
      task.outcomes.push(outcome)
      task.status = outcome.kind === 'complete' ? 'completed' : outcome.kind === 'fail' ? 'failed' : 'pending'
      if (outcome.kind === 'release' && outcome.stopping !== true) task.barred.add(outcome.agentId)
      return { ok: true, status: outcome.kind === 'complete' ? 'completed' : 'pending' }
    })
    this.afterSettle()
    return answers
  }

  async heartbeat(heartbeats: ReadonlyArray<Heartbeat>): Promise<ReadonlyArray<HeartbeatAnswer>> {
    this.heartbeats.push(heartbeats)
    await this.beforeHeartbeat()
    const answers = heartbeats.map((heartbeat): HeartbeatAnswer => {
      const refused = this.refuseHeartbeat(heartbeat) ?? this.notHeld(heartbeat.taskId, heartbeat.token)
      if (refused !== undefined && !refused.ok) return refused
      const task = this.task(heartbeat.taskId)
      task.leaseEndsAt = Math.min(performance.now() + task.leaseMs, task.leaseEndsMax)
      if (heartbeat.progress !== undefined) task.progress = heartbeat.progress
      if (heartbeat.checkpoint !== undefined) task.checkpoint = heartbeat.checkpoint
      return { ok: true }
    })
    await this.beforeHeartbeatAnswer()
    return answers
  }

  private notHeld(id: string, token: number): { ok: false; code: string; detail: string } | undefined {
    const task = this.task(id)
    return task.token === token && task.status === 'in-progress' && task.leaseEndsAt > performance.now()
      ? undefined
      : { ok: false, code: 'lease-lost', detail: 'expired' }
  }

  private grant({ agentId, max, leaseSeconds }: SourceClaim, waitedMs: number): ReadonlyArray<ClaimedWork> {
    const { maxRunSeconds = Number.POSITIVE_INFINITY } = this
    const leaseMs = Math.min(this.leaseMs, leaseSeconds * 1_000, maxRunSeconds * 1_000)
    const works: Array<ClaimedWork> = []
    const now = performance.now()
    let held = 0
    for (const task of this.tasks.values()) {
      if (task.status === 'in-progress' && task.leaseEndsAt > now) held++
      else if (works.length < max && !task.barred.has(agentId) && (task.status === 'pending' || task.status === 'in-progress')) {
        held++
        task.status = 'in-progress'
        task.token = ++this.lastToken
        task.agent = agentId
        task.leaseEndsAt = now + leaseMs
        task.leaseEndsMax = now + maxRunSeconds * 1_000
        task.leaseMs = leaseMs
        const { id, number, payload, token, checkpoint } = task
        works.push({ task: { ...common, id, number, payload: payload as number, idempotencyKey: `key of ${id}`, maxRunSeconds: this.maxRunSeconds }, token, leaseMs, waitedMs, checkpoint: checkpoint as undefined })
      }
    }
    this.heldMax = Math.max(this.heldMax, held)
    return works
  }

  private async sleep(ms: number, signal: AbortSignal): Promise<void> {
    this.waiting++
    await new Promise<void>((resolve) => {
      const end = (): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
        resolve()
      }
      const timer = setTimeout(end, ms)
      this.wake.push(end)
      signal.addEventListener('abort', end)
    })
    this.waiting--
  }

  private wakeAll(): void {
    const wake = this.wake
    this.wake = []
    for (const each of wake) each()
  }
}

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until the condition holds; fails after thirty seconds. */
export const until = async (isSo: () => boolean | Promise<boolean>, what: string): Promise<void> => {
  for (const end = performance.now() + 30_000; !(await isSo()); ) {
    if (performance.now() > end) throw new Error(`not within thirty seconds: ${what}`)
    await sleep(2)
  }
}

/** An error as a source reports it. */
export const failing = (code: string): Error => Object.assign(new Error(`${code}, said the source`), { code })
