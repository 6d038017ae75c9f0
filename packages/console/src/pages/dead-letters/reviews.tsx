/** The decisions that a person can make for a group of dead letters. Each first shows their number, from a dry run on the server. */
import type { Discarded, Escalated, Retried, Snoozed } from '@daybook/client'
import { command, revisionOf } from '../../api/command.js'
import { serverNow } from '../../api/server-time.js'
import { me } from '../../api/session.js'
import type { Action, Done, Given } from '../../parts/action.js'
import { counted } from '../../parts/format.js'
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

interface Reviewed {
  /** How many were reviewed. */
  readonly done: number
  /** Of the last command that reviewed any. */
  readonly revision: ReturnType<typeof revisionOf>
}

/** Sends the command until all are reviewed, or nothing is left. The server takes at most 1,000 at once. `took`: how many the answer has. */
const reviewAll = async <A,>(queue: string, verb: string, body: object, count: number, { progress }: Given, took: (answer: A) => number): Promise<Reviewed> => {
  let all: Reviewed = { done: 0, revision: {} }
  while (all.done < count) {
    const answer = await command<A>('POST', queue, ['dead-letters', verb], body)
    const some = took(answer.value)
    if (some === 0) break
    all = { done: all.done + some, revision: revisionOf(answer) }
    progress(`${all.done} of ${count} …`)
  }
  return all
}

/** What is done with the whole group. Its dialog shows the number of dead letters. `run`: `body` is that of the commands. */
const groupAction = async (
  queue: string,
  filter: GroupKey,
  verb: string,
  does: string,
  run: (given: Given, count: number, body: object) => Promise<Omit<Done, 'queue'>>,
  more: Partial<Action> = {},
): Promise<Action> => {
  const count = await countOf(queue, filter)
  return {
    title: `${verb} this group`,
    does: <><What count={count} filter={filter} /><p>{does}</p></>,
    verb: `${verb} ${counted(count, 'task')}`,
    ...more,
    run: async (given) => ({ queue, ...(await run(given, count, { filter, reviewer: reviewer(), reason: given.reason })) }),
  }
}

export const retryGroup = (queue: string, filter: GroupKey): Promise<Action> =>
  groupAction(queue, filter, 'Retry', 'They go back to the queue, with all their attempts before them. If what made them fail is still there, they come back.', async (given, count, body) => {
    const perMinute = given.fields['perMinute'] === '' ? undefined : Number(given.fields['perMinute'])
    if (perMinute !== undefined) return { said: `${counted(count, 'task goes', 'tasks go')} back to the queue, ${perMinute} a minute.`, ...revisionOf(await command('POST', queue, ['dead-letters', 'retry'], { ...body, perMinute })) }
    const { done, revision } = await reviewAll<Retried>(queue, 'retry', body, count, given, ({ retried }) => retried.length)
    return { said: `${counted(done, 'task')} went back to the queue.`, ...revision }
  }, { fields: [{ name: 'perMinute', label: 'At most so many a minute', kind: 'number', hint: 'Empty: all at once. A redrive stops automatically when their breaker opens.' }] })

export const discardGroup = (queue: string, filter: GroupKey): Promise<Action> =>
  groupAction(queue, filter, 'Discard', 'They are given up for good, and the tasks that wait for them are cancelled. Their history stays.', async (given, count, body) => {
    let cancelled = 0
    const { done, revision } = await reviewAll<Discarded>(queue, 'discard', body, count, given, (answer) => {
      cancelled += answer.cancelled.length
      return answer.discarded.length
    })
    return { said: `${counted(done, 'task')} discarded${cancelled === 0 ? '' : `, and ${counted(cancelled, 'task')} cancelled that waited for them`}.`, ...revision }
  }, { isDestructive: true })

export const snoozeGroup = (queue: string, filter: GroupKey): Promise<Action> =>
  groupAction(queue, filter, 'Snooze', 'They stay dead letters, and go back to the queue by themselves when the time is over.', async (given, count, body) => {
    const until = new Date(serverNow() + Number(given.fields['hours']) * 3_600_000).toISOString()
    const { done, revision } = await reviewAll<Snoozed>(queue, 'snooze', { ...body, until }, count, given, ({ snoozed }) => snoozed.length)
    return { said: `${counted(done, 'task')} snoozed.`, ...revision }
  }, { fields: [{ name: 'hours', label: 'For so many hours', kind: 'number', value: '8', required: true }] })

export const escalateGroup = (queue: string, filter: GroupKey): Promise<Action> =>
  groupAction(queue, filter, 'Escalate', 'They stay where they are, marked for somebody who decides. The reason stands beside each as a note.', async (given, count, body) => {
    const { done, revision } = await reviewAll<Escalated>(queue, 'escalate', body, count, given, ({ escalated }) => escalated.length)
    return { said: `${counted(done, 'task')} escalated.`, ...revision }
  }, { title: 'Escalate this group, with a note' })

export const stopRedrive = (queue: string): Action => ({
  title: 'Stop the redrive',
  does: <p>What has gone back to the queue stays there; the others stay dead letters.</p>,
  verb: 'Stop it',
  run: async ({ reason }) => ({ said: 'The redrive has stopped.', queue, ...revisionOf(await command('DELETE', queue, ['dead-letters', 'redrive'], undefined, { reason })) }),
})
