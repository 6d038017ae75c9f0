/** The actions on one task, by its status. */
import type { TaskView } from '@daybook/client'
import type { Status } from '@daybook/core'
import { queueLink } from '../../address/address.js'
import { pathOf } from '../../address/url.js'
import { exactNumbers, exactText } from '../../api/exact-numbers.js'
import { type Answer, type Method, request } from '../../api/request.js'
import { may, me } from '../../api/session.js'
import { type Action, ActionButton, type ActionField, type Given } from '../../parts/action.js'

export type TaskActionName = 'retry' | 'editAndRetry' | 'discard' | 'cancel' | 'restart' | 'bump' | 'amend'

const final: ReadonlyArray<Status> = ['completed', 'cancelled', 'discarded']

/** The actions that the server would accept now. */
export const actionsFor = (status: Status): ReadonlyArray<TaskActionName> => {
  if (status === 'dead-letter') return ['retry', 'editAndRetry', 'discard', 'restart']
  if (final.includes(status)) return ['restart']
  if (status === 'in-progress' || status === 'incomplete') return ['cancel']
  return status === 'pending' || status === 'queued' ? ['bump', 'amend', 'cancel'] : ['amend', 'cancel']
}

/** They overtake other tenants, or make an id that is not the tenant's. */
const ofAllTenants: ReadonlyArray<TaskActionName> = ['restart', 'bump']

export const TaskActions = ({ queue, task }: { readonly queue: string; readonly task: TaskView }) => (
  <div class="buttons task-actions" role="group" aria-label="Actions">
    {actionsFor(task.status).filter((name) => may.seeAll.value || !ofAllTenants.includes(name)).map((name) => <ActionButton key={name} action={() => actions[name](queue, task)}>{labels[name]} …</ActionButton>)}
  </div>
)

const labels: Readonly<Record<TaskActionName, string>> = { retry: 'Retry', editAndRetry: 'Edit and retry', discard: 'Discard', cancel: 'Cancel', restart: 'Restart', bump: 'Bump', amend: 'Amend' }

const run = (queue: string, said: string, method: Method, path: ReadonlyArray<string>, bodyOf: (given: Given) => object, linkOf: (value: unknown) => string | undefined = () => undefined): Action['run'] => async (given) => {
  const { value, revision }: Answer<unknown> = await request(method, pathOf(['api', 'queues', queue, ...path]), { body: bodyOf(given) })
  const next = linkOf(value)
  return { said, queue, ...(revision === undefined ? {} : { revision }), ...(next === undefined ? {} : { link: { to: queueLink(queue, 'tasks', next), text: next } }) }
}

const reviewOf = ({ reason }: Given): { readonly reviewer: string; readonly reason: string } => ({ reviewer: me.value?.name ?? 'console', reason })
const reasonOf = ({ reason }: Given): { readonly reason: string } => ({ reason })

const payloadField = ({ payload }: TaskView): ActionField => ({ name: 'payload', label: 'Payload', kind: 'json', value: exactText(payload), required: true, hint: 'JSON. The event keeps the former one.' })

/** Numbers that JavaScript cannot represent are sent as they were typed. */
const payloadOf = ({ fields }: Given): unknown => {
  try {
    return exactNumbers(fields.payload ?? '')
  } catch (error) {
    throw new Error(`the payload is no JSON: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
  }
}

const actions: Readonly<Record<TaskActionName, (queue: string, task: TaskView) => Action>> = {
  retry: (queue, { id }) => ({
    title: `Retry ${id}`, verb: 'Retry',
    does: <p>This dead letter goes back to the queue, with its retries and attempts from zero.</p>,
    run: run(queue, `${id} is back in the queue.`, 'POST', ['dead-letters', id, 'retry'], reviewOf),
  }),
  editAndRetry: (queue, task) => ({
    title: `Edit and retry ${task.id}`, verb: 'Retry with this payload',
    does: <p>This dead letter goes back to the queue with another payload, with its retries and attempts from zero.</p>,
    fields: [payloadField(task)],
    run: run(queue, `${task.id} is back in the queue, with another payload.`, 'POST', ['dead-letters', task.id, 'retry'], (given) => ({ ...reviewOf(given), payload: payloadOf(given) })),
  }),
  discard: (queue, { id }) => ({
    title: `Discard ${id}`, verb: 'Discard', isDestructive: true,
    does: <p>This dead letter is given up, and every task that depends on it is cancelled. It can be restarted as a new task.</p>,
    run: run(queue, `${id} is discarded.`, 'POST', ['dead-letters', id, 'discard'], reviewOf),
  }),
  cancel: (queue, { id, currentClaimant }) => ({
    title: `Cancel ${id}`, verb: 'Cancel the task', isDestructive: true,
    does: <p>It is cancelled, and so is every task that depends on it. {currentClaimant !== null && `The agent ${currentClaimant} works on it, and is told with its next heartbeat.`}</p>,
    run: run(queue, `${id} is cancelled.`, 'POST', ['tasks', id, 'cancel'], reasonOf),
  }),
  restart: (queue, { id }) => ({
    title: `Restart ${id}`, verb: 'Restart as a new task',
    does: <p>The same work is enqueued once more, as a new task. This one keeps its history.</p>,
    run: run(queue, `${id} is restarted, as`, 'POST', ['tasks', id, 'restart'], reasonOf, (value) => (value as { readonly id: string }).id),
  }),
  bump: (queue, { id }) => ({
    title: `Bump ${id}`, verb: 'Bump',
    does: <p>It goes before all other tasks of this queue, and may start beyond the limit on agents.</p>,
    run: run(queue, `${id} is bumped.`, 'POST', ['tasks', id, 'bump'], reasonOf),
  }),
  amend: (queue, task) => ({
    title: `Amend ${task.id}`, verb: 'Amend',
    does: <p>The event keeps what was before.</p>,
    fields: [
      { name: 'priority', label: 'Priority', kind: 'choice', value: String(task.priority), choices: ['10', '9', '8', '7', '6', '5', '4', '3', '2', '1'] },
      { name: 'deadlineAt', label: 'Deadline', kind: 'text', value: task.deadlineAt ?? '', hint: 'ISO 8601, such as 2026-12-01T09:00:00Z; empty for none' },
      { name: 'availableAt', label: 'Not before', kind: 'text', value: task.availableAt ?? '', hint: 'ISO 8601; empty for at once' },
      payloadField(task),
    ],
    run: run(queue, `${task.id} is amended.`, 'PATCH', ['tasks', task.id], (given) => {
      const { priority, deadlineAt = '', availableAt = '', payload } = given.fields
      const time = (name: string, text: string, before: string | undefined): object => (text === (before ?? '') ? {} : { [name]: text === '' ? null : text })
      return {
        reason: given.reason,
        ...(Number(priority) === task.priority ? {} : { priority: Number(priority) }),
        ...time('deadlineAt', deadlineAt, task.deadlineAt),
        ...time('availableAt', availableAt, task.availableAt),
        ...(payload === exactText(task.payload) ? {} : { payload: payloadOf(given) }),
      }
    }),
  }),
}
