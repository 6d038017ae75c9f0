/** A naive account of a history: what happened to tasks, found by folding naively and looking at every task after every event. */
import type { QueueEvent } from '@daybook/core'
import { Shadow, type ShadowTask } from '../support/states/index.js'

/** One thing that happened to a task. */
export interface Happening {
  readonly at: number
  readonly column: string
  readonly task: ShadowTask
  readonly agent: string
  readonly wait?: number
  readonly run?: number
  readonly signature?: string
}

export interface Account {
  readonly happenings: ReadonlyArray<Happening>
  readonly tasks: ReadonlyArray<ShadowTask>
  /** From when to when tenants had ready tasks; those that go on have no end. */
  readonly backlogs: ReadonlyArray<{ readonly tenant: string; readonly from: number; readonly to: number | undefined }>
}

const ends: Readonly<Record<string, string>> = {
  Completed: 'completed', Failed: 'failed', ClaimExpired: 'expired', ClaimRevoked: 'revoked', ClaimReturned: 'returned', Released: 'released', TaskParked: 'parked', RateLimited: 'rate_limited',
}
const others: Readonly<Record<string, string>> = {
  RetryScheduled: 'retried', MarkedIncomplete: 'incomplete', CallbackReceived: 'called_back', ParkTimedOut: 'timed_out', DeadLettered: 'dead_lettered', Requeued: 'requeued', Discarded: 'discarded', Cancelled: 'cancelled',
}

/** Folds naively, and looks at every task after every event. */
export const accountOf = (log: ReadonlyArray<QueueEvent>): Account => {
  const shadow = new Shadow()
  const happenings: Array<Happening> = []
  const readySince = new Map<ShadowTask, number>()
  const imported = new Set<ShadowTask>()
  const claims = new Map<ShadowTask, { readonly at: number; readonly agent: string }>()
  const backlogs: Array<{ tenant: string; from: number; to: number | undefined }> = []
  for (const event of log) {
    const { at, type } = event
    const named = 'task' in event.data ? event.data.task : undefined
    // Who is meant, before the event: afterwards it may be forgotten.
    const before = named === undefined ? undefined : shadow.task(named)
    const wasHeld = before !== undefined && shadow.isHeld(before)
    shadow.fold(event)
    const task = type === 'TaskEnqueued' || type === 'TaskImported' ? shadow.tasks.at(-1) : before
    if (task !== undefined) {
      const agentBefore = claims.get(task)?.agent ?? ''
      if (type === 'TaskEnqueued') happenings.push({ at, column: 'enqueued', task, agent: '' })
      if (type === 'TaskImported') {
        happenings.push({ at, column: 'imported', task, agent: '' })
        readySince.set(task, event.data.createdAt)
        if (shadow.isEnded(task)) imported.add(task)
      }
      if (type === 'Claimed') {
        happenings.push({ at, column: 'claimed', task, agent: event.data.agent, wait: at - (readySince.get(task) ?? NaN) })
        claims.set(task, { at, agent: event.data.agent })
      }
      const end = ends[type] ?? (type === 'Cancelled' && wasHeld ? 'cancelled' : undefined)
      const signature = 'signature' in event.data && (type === 'Failed' || type === 'ClaimExpired' || (type === 'ParkTimedOut' && event.data.onTimeout === 'fail')) ? { signature: event.data.signature } : {}
      if (end !== undefined) happenings.push({ at, column: end, task, agent: agentBefore, run: at - (claims.get(task)?.at ?? NaN), ...signature })
      else if (others[type] !== undefined) happenings.push({ at, column: others[type], task, agent: agentBefore, ...signature })
    }
    for (const each of shadow.tasks) {
      if (shadow.statusOf(each) !== 'pending') readySince.delete(each)
      else if (!readySince.has(each)) readySince.set(each, at)
    }
    const now = new Set(shadow.tasks.filter((each) => shadow.statusOf(each) === 'pending').map(({ facts }) => facts.tenant ?? ''))
    for (const span of backlogs) if (span.to === undefined && !now.has(span.tenant)) span.to = at
    for (const tenant of now) if (!backlogs.some((span) => span.tenant === tenant && span.to === undefined)) backlogs.push({ tenant, from: at, to: undefined })
  }
  return { happenings, tasks: [...shadow.gone, ...shadow.tasks].filter((task) => !imported.has(task)), backlogs }
}

export const valueOf = ({ facts }: ShadowTask, dimension: string, agent: string): string =>
  dimension === 'all' ? '' : dimension === 'agent' ? agent : ((facts as Readonly<Record<string, unknown>>)[dimension] as string | undefined) ?? ''
