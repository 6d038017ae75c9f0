/**
 * INV-33: a batch counts its tasks as they stand, and is finished once: with the event that leaves nothing to wait for, never before; its callback is enqueued with that.
 * The checker keeps its own account, from events only.
 */
import { batchesOf, type QueueEvent } from '@daybook/core'
import { json, same } from './look.js'
import { type Checker, holds, type World } from './world.js'

type Counted = 'open' | 'completed' | 'cancelled' | 'discarded' | 'deadLetters'

interface Account {
  readonly id: string
  readonly on: 'finished' | 'settled'
  hasCallback: boolean
  isClosed: boolean
  isCancelled: boolean
  isFinished: boolean
  readonly tasks: Array<{ stands: Counted }>
  readonly approvals: Set<string>
}

const tallyOf = ({ tasks }: Account) => {
  const of = (wanted: Counted): number => tasks.filter(({ stands }) => stands === wanted).length
  return { tasks: tasks.length, open: of('open'), completed: of('completed'), cancelled: of('cancelled'), discarded: of('discarded'), deadLetters: of('deadLetters') }
}

const hasNothingLeft = (account: Account): boolean => {
  const { open, deadLetters } = tallyOf(account)
  const isHeld = deadLetters + account.approvals.size > 0 && account.on === 'finished' && !account.isCancelled
  return account.isClosed && open === 0 && !isHeld
}

const standsAfter: { readonly [T in QueueEvent['type']]?: Counted } = { Completed: 'completed', Cancelled: 'cancelled', Discarded: 'discarded', DeadLettered: 'deadLetters', Requeued: 'open' }

export const batchesAreCounted = (): Checker => {
  const accounts = new Map<string, Account>()
  /** The newest task with each id, if it is in a batch. */
  const tasks = new Map<string, { stands: Counted }>()

  const checkFinished = (event: Extract<QueueEvent, { type: 'BatchFinished' }>, next: QueueEvent | undefined): void => {
    const { batch, callback, ...told } = event.data
    const account = accounts.get(batch)
    if (account === undefined) throw new Error(`${batch} is finished, and was never made`)
    holds(!account.isFinished, `${batch} is finished a second time`)
    holds(hasNothingLeft(account), () => `${batch} is finished, with ${json(tallyOf(account))}`)
    same({ ...told, open: 0 }, tallyOf(account), `what the end of ${batch} says`)
    same(callback !== undefined, account.hasCallback, `whether ${batch} has a callback`)
    if (callback === undefined) return
    holds(next?.type === 'TaskEnqueued' && next.data.task === callback && next.data.callbackOf === batch, `${batch} is finished without its callback ${callback}`)
    const told2 = (JSON.parse((next as { content?: string }).content ?? '{}') as { metadata?: { batch?: object } }).metadata?.batch
    same(told2, { id: batch, ...told }, `what the callback of ${batch} is told`)
  }

  /** Only what comes of its own tasks joins a batch that is closed, and nothing one that is finished. */
  const checkJoining = ({ shadow }: World, { task, batchId, parentTaskId, restartOf, rootTaskId }: Extract<QueueEvent, { type: 'TaskEnqueued' }>['data']): void => {
    if (batchId === undefined) return
    const account = accounts.get(batchId)
    if (account === undefined) throw new Error(`${task} is in ${batchId}, which was never made`)
    holds(!account.isFinished && !account.isCancelled, `${task} joins ${batchId}, which is over`)
    if (!account.isClosed || restartOf !== undefined || rootTaskId !== undefined) return
    const parent = parentTaskId === undefined ? undefined : shadow.task(parentTaskId)
    holds(parent !== undefined && shadow.isHeld(parent) && parent.facts.batchId === batchId, `${task} joins ${batchId}, which is closed`)
  }

  return {
    event: (world, event, decided, index) => {
      if (event.type === 'BatchFinished') checkFinished(event, decided[index + 1])
      if (event.type !== 'TaskEnqueued') return
      checkJoining(world, event.data)
      const before = decided[index - 1]
      const isAnnounced = before?.type === 'BatchFinished' && before.data.callback === event.data.task
      holds(event.data.callbackOf === undefined || event.data.restartOf !== undefined || isAnnounced, `a callback ${event.data.task} of nothing`)
    },
    note: (event) => {
      switch (event.type) {
        case 'BatchCreated': {
          const { batch: id, on, callback } = event.data
          accounts.set(id, { id, on, hasCallback: callback !== undefined, isClosed: false, isCancelled: false, isFinished: false, tasks: [], approvals: new Set() })
          return
        }
        case 'BatchClosed':
          return void Object.assign(accounts.get(event.data.batch) ?? {}, { isClosed: true })
        case 'BatchCancelled':
          return void Object.assign(accounts.get(event.data.batch) ?? {}, { isClosed: true, isCancelled: true, ...(event.data.runsCallback === true ? {} : { hasCallback: false }) })
        case 'BatchFinished':
          return void Object.assign(accounts.get(event.data.batch) ?? {}, { isFinished: true })
        case 'TaskImported':
          tasks.delete(event.data.task)
          return
        case 'TaskEnqueued': {
          const { task: id, batchId } = event.data
          const account = batchId === undefined ? undefined : accounts.get(batchId)
          tasks.delete(id)
          if (account === undefined) return
          const task = { stands: 'open' as const }
          account.tasks.push(task)
          tasks.set(id, task)
          return
        }
        case 'SpawnProposed':
        case 'LoopHalted':
          accounts.get(event.data.tasks[0]?.batchId ?? '')?.approvals.add(event.data.approval)
          return
        case 'SpawnApproved':
        case 'SpawnRefused':
        case 'GuardianReleased':
          for (const { approvals } of accounts.values()) approvals.delete(event.data.approval)
          return
        case 'QueueDeleted':
          accounts.clear()
          tasks.clear()
          return
        default: {
          const stands = standsAfter[event.type]
          const task = stands === undefined || !('task' in event.data) ? undefined : tasks.get(event.data.task)
          if (task !== undefined && stands !== undefined) task.stands = stands
        }
      }
    },
    step: ({ state, isCloseLook }) => {
      for (const account of accounts.values()) holds(account.isFinished || !hasNothingLeft(account), () => `${account.id} has nothing left to wait for, and is not finished`)
      if (!isCloseLook) return
      const shown = new Map(batchesOf(state, {}, Number.MAX_SAFE_INTEGER).batches.map((batch) => [batch.id, batch]))
      for (const account of accounts.values()) {
        const batch = shown.get(account.id)
        if (batch === undefined) {
          holds(account.isFinished, `${account.id} was forgotten`)
          continue
        }
        const { tasks: all, open, completed, cancelled, discarded, deadLetters, approvals } = batch
        same({ tasks: all, open, completed, cancelled, discarded, deadLetters }, tallyOf(account), `the counts of ${account.id}`)
        same([approvals, batch.state], [account.approvals.size, account.isFinished ? 'finished' : account.isClosed ? 'closed' : 'open'], `how ${account.id} stands`)
        same(batch.reasons.length === 0, account.isFinished, `whether ${account.id} says why it is not finished`)
      }
    },
  }
}
