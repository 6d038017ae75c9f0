/** The decisions that a person can make for a group of dead letters. Each first shows their number, from a dry run on the server. */
import type { Discarded, Escalated, Retried, Snoozed } from '@daybook/client'
import { command, revisionOf } from '../../api/command.js'
import { serverNow } from '../../api/server-time.js'
import { me } from '../../api/session.js'
import type { Action, Given } from '../../parts/action.js'
import { counted, numberText } from '../../parts/format.js'
import { type GroupKey, shortSignature } from './group.js'

const reviewer = (): string => me.value?.name ?? 'somebody'

interface DryRun {
  readonly count: number
}
const countOf = async (queue: string, filter: GroupKey): Promise<number> =>
  (await command<DryRun>('POST', queue, ['dead-letters', 'retry'], { filter, reviewer: reviewer(), reason: 'dry run', dryRun: true })).value.count

const What = ({ count, filter: { type, signature } }: { readonly count: number; readonly filter: GroupKey }) => (
  <p>
    <strong>{counted(count, 'dead letter')}</strong> of type <code>{type}</code> with signature <code>{shortSignature(signature)}</code>, as the server has just counted.
  </p>
)

/** The server reviews at most so many with one command. */
const reviewMax = 1_000

/** Sends the command until all are done, or nothing is left. `send`: to how many it was done. */
const untilDone = async (count: number, { progress }: Given, send: () => Promise<number>): Promise<number> => {
  let done = 0
  while (done < count) {
    const some = await send()
    if (some === 0) break
    done += some
    progress(`${done} of ${count} …`)
  }
  return done
}

export const retryGroup = async (queue: string, filter: GroupKey): Promise<Action> => {
  const count = await countOf(queue, filter)
  return {
    title: 'Retry this group',
    does: <><What count={count} filter={filter} /><p>They go back to the queue, with all their attempts before them. If what made them fail is still there, they come back.</p></>,
    verb: `Retry ${counted(count, 'task')}`,
    fields: [{ name: 'perMinute', label: 'At most so many a minute', kind: 'number', hint: 'Empty: all at once. A redrive stops automatically when their breaker opens.' }],
    run: async (given) => {
      const perMinute = given.fields['perMinute'] === '' ? undefined : Number(given.fields['perMinute'])
      const body = { filter, reviewer: reviewer(), reason: given.reason }
      if (perMinute !== undefined) return { said: `${counted(count, 'task goes', 'tasks go')} back to the queue, ${perMinute} a minute.`, queue, ...revisionOf(await command('POST', queue, ['dead-letters', 'retry'], { ...body, perMinute })) }
      let revision = {}
      const retried = await untilDone(count, given, async () => {
        const answer = await command<Retried>('POST', queue, ['dead-letters', 'retry'], body)
        if (answer.value.retried.length > 0) revision = revisionOf(answer)
        return answer.value.retried.length
      })
      return { said: `${counted(retried, 'task')} went back to the queue.`, queue, ...revision }
    },
  }
}

export const discardGroup = async (queue: string, filter: GroupKey): Promise<Action> => {
  const count = await countOf(queue, filter)
  return {
    title: 'Discard this group',
    does: <><What count={count} filter={filter} /><p>They are given up for good, and the tasks that wait for them are cancelled. Their history stays.</p></>,
    verb: `Discard ${counted(count, 'task')}`,
    isDestructive: true,
    run: async (given) => {
      let revision = {}
      let cancelled = 0
      const discarded = await untilDone(count, given, async () => {
        const answer = await command<Discarded>('POST', queue, ['dead-letters', 'discard'], { filter, reviewer: reviewer(), reason: given.reason })
        if (answer.value.discarded.length > 0) revision = revisionOf(answer)
        cancelled += answer.value.cancelled.length
        return answer.value.discarded.length
      })
      return { said: `${counted(discarded, 'task')} discarded${cancelled === 0 ? '' : `, and ${counted(cancelled, 'task')} cancelled that waited for them`}.`, queue, ...revision }
    },
  }
}

/** These stay in the group, so the same command again would find the same ones. */
const firstOnly = (count: number): string => (count > reviewMax ? ` That is done to the ${numberText(reviewMax)} with the highest priority.` : '')

export const snoozeGroup = async (queue: string, filter: GroupKey): Promise<Action> => {
  const count = await countOf(queue, filter)
  return {
    title: 'Snooze this group',
    does: <><What count={count} filter={filter} /><p>They stay dead letters, and go back to the queue by themselves when the time is over.{firstOnly(count)}</p></>,
    verb: `Snooze ${counted(Math.min(count, reviewMax), 'task')}`,
    fields: [{ name: 'hours', label: 'For so many hours', kind: 'number', value: '8', required: true }],
    run: async ({ reason, fields }) => {
      const until = new Date(serverNow() + Number(fields['hours']) * 3_600_000).toISOString()
      const answer = await command<Snoozed>('POST', queue, ['dead-letters', 'snooze'], { filter, reviewer: reviewer(), reason, until })
      return { said: `${counted(answer.value.snoozed.length, 'task')} snoozed.`, queue, ...revisionOf(answer) }
    },
  }
}

export const escalateGroup = async (queue: string, filter: GroupKey): Promise<Action> => {
  const count = await countOf(queue, filter)
  return {
    title: 'Escalate this group, with a note',
    does: <><What count={count} filter={filter} /><p>They stay where they are, marked for somebody who decides. The reason stands beside each as a note.{firstOnly(count)}</p></>,
    verb: `Escalate ${counted(Math.min(count, reviewMax), 'task')}`,
    run: async ({ reason }) => {
      const answer = await command<Escalated>('POST', queue, ['dead-letters', 'escalate'], { filter, reviewer: reviewer(), reason })
      return { said: `${counted(answer.value.escalated.length, 'task')} escalated.`, queue, ...revisionOf(answer) }
    },
  }
}

export const stopRedrive = (queue: string): Action => ({
  title: 'Stop the redrive',
  does: <p>What has gone back to the queue stays there; the others stay dead letters.</p>,
  verb: 'Stop it',
  run: async ({ reason }) => ({ said: 'The redrive has stopped.', queue, ...revisionOf(await command('DELETE', queue, ['dead-letters', 'redrive'], undefined, { reason })) }),
})
