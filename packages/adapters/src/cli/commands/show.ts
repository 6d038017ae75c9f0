import { Command } from 'commander'
import { isTimeField, type ShownField, shownFields } from '@daybook/core/common'
import type { Reason, TaskView } from '../../client/index.js'
import { type Cli, examples } from '../cli.js'
import { paintStatus, type Printer } from '../printer.js'
import { attemptsText, holdsUpText } from '../task-table.js'
import { clean, clock, since, until } from '../text.js'

const json = (value: unknown): string | undefined => (value === undefined || value === null ? undefined : clean(JSON.stringify(value), 4_000))

const labels: Readonly<Partial<Record<ShownField, string>>> = { deadlineAt: 'deadline', ticketId: 'ticket', parentTaskId: 'parent', batchId: 'batch', callbackOf: 'callback of batch', concurrencyKey: 'concurrency', orderingKey: 'ordering' }

const fieldText = (task: TaskView, name: ShownField): string | undefined => {
  const value: unknown = task[name]
  if (value === undefined) return undefined
  return isTimeField(name) ? clock(value as string) : clean(typeof value === 'string' ? value : JSON.stringify(value))
}

const reasonText = ({ message, until: end }: Reason): string => `${clean(message)}${end === undefined ? '' : `, until ${clock(end)} (${until(end)})`}`

/** Held and finished tasks are shown as such elsewhere. */
const isWaiting = ({ code }: Reason): boolean => code !== 'held' && code !== 'finished'

/** Why payload, description, metadata and result are not shown. */
const withheldText = ({ withheld, erased }: TaskView): string | undefined => {
  if (withheld === undefined) return undefined
  if (withheld === 'key-missing') return 'cannot be read: the key of the task is not here'
  if (withheld === 'damaged') return 'cannot be read: it was changed in the log; daybook audit verify says where'
  if (erased === undefined) return 'erased'
  return `erased ${clock(erased.at)} (${since(erased.at)})${erased.actor === undefined ? '' : ` by ${clean(erased.actor)}`}: ${clean(erased.reason)}`
}

export const showTask = (printer: Printer, task: TaskView): void =>
  printer.pairs([
    ['id', `${clean(task.id)}  (#${task.number})`],
    ['type', clean(task.type)],
    ['status', paintStatus(printer.colors, task.status)],
    ...(task.reasons ?? []).filter(isWaiting).map((reason, i): readonly [string, string] => [i === 0 ? 'waits' : '', reasonText(reason)]),
    ['holds up', holdsUpText(task)],
    ['place', task.queuePosition === undefined ? undefined : `${task.queuePosition ?? 'beyond 1,000'} of those that wait for capacity`],
    ['priority', String(task.priority)],
    ['skills', task.requires?.skills.map((skill) => clean(skill)).join(', ')],
    ['description', task.description === undefined ? undefined : clean(task.description)],
    ['payload', json(task.payload)],
    ['content', withheldText(task)],
    ['depends on', task.dependencies.map((id) => clean(id)).join(', ')],
    ['enqueued', `${clock(task.createdAt)} (${since(task.createdAt)})`],
    ['available', task.status === 'scheduled' ? `${clock(task.availableAt)} (${until(task.availableAt)})` : undefined],
    ['attempt', attemptsText(task)],
    ['lease', task.leaseExpiresAt === undefined ? undefined : `${clean(task.claimedBy ?? '')} until ${clock(task.leaseExpiresAt)} (${until(task.leaseExpiresAt)})`],
    ['callback', task.callback === undefined ? undefined : `${clean(task.callback.key)} ${since(task.callback.at)}: ${json(task.callback.payload) ?? 'no payload'}`],
    ['progress', json(task.progress)],
    ['checkpoint', json(task.checkpoint)],
    ['finished', clock(task.finishedAt)],
    ['last error', task.lastError === null ? undefined : printer.colors.red(clean(task.lastError))],
    ['signature', task.signature],
    ...shownFields.map((name) => [labels[name] ?? name, fieldText(task, name)] as const),
    ['key', clean(task.idempotencyKey)],
    ['metadata', json(task.metadata)],
    ['result', json(task.result)],
  ])

export const showCommand = (cli: Cli): Command =>
  new Command('show')
    .description('a task with all that is known about it')
    .argument('<id>', 'its id, or #number')
    .addHelpText('after', examples('daybook show M1-001', "daybook show '#42' --json | jq .result", "daybook show M1-001 --json | jq '.reasons[].code'      # why it waits"))
    .action(cli.connected<object, [string]>(async ({ printer, client }, _, id) => {
      const task = await client.task(id)
      printer.answer(task, () => showTask(printer, task))
    }))
