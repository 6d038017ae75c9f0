/** What waits for a guardian (TQM-BR-003, TQM-VF-002, TQM-VF-003). */
import { type ApprovalContext, approvalContextOf, approvalsOf, type ApprovalView, type TaskView } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { waitingContents } from '../../engine/index.js'
import { problem } from '../problem.js'
import { find, type Handled, type QueueCall, replyWith, type ViewCall } from '../routes/route.js'
import { quoteAll } from '../json/text.js'
import { isoOf } from '../../iso-time.js'
import type { ReasonBody } from '../json/wire.js'

const shown = ({ revision: _, tasks, at, ...approval }: ApprovalView): object => ({
  ...approval,
  at: isoOf(at),
  tasks: tasks.map(({ task, skills, ...planned }) => ({
    id: task,
    ...planned,
    ...(skills === undefined ? {} : { requires: { skills } }),
  })),
})

export const approvals = async ({ queue }: ViewCall): Promise<Handled> =>
  replyWith(await queue.read(approvalsOf), (found, revision) => JSON.stringify({ approvals: found.map(shown), revision }))

export const approval = async ({ queue, params }: ViewCall): Promise<Handled> => {
  const { id = '' } = params
  const missing = () => problem('not-found', `nothing waits for approval as ${id} in queue ${queue.name}: it was decided on, or never was there`)
  const found = await find(queue, (state, at) => approvalContextOf(state, id, at), missing)
  if (E.isLeft(found)) return found
  const { value: context, revision } = found.right
  const [data] = await queue.contents([context.approval.revision])
  return E.right({ status: 200, text: JSON.stringify({ ...withContext(context, waitingContents(data)), revision }), revision })
}

const withContext = ({ approval: of, chain, signatures }: ApprovalContext, contents: ReadonlyArray<string>): object => {
  const { tasks, ...about } = shown(of) as { readonly tasks: ReadonlyArray<object> }
  return {
    ...about,
    tasks: tasks.map((task, i) => ({ ...task, ...(JSON.parse(contents[i] ?? '{}') as object) })),
    chain: chain.map(inChain),
    signatures,
  }
}

const inChain = ({ id, number, type, phase, status, discovery, parentTaskId, lastError, createdAt }: TaskView): object => ({
  ...{ id, number, type, phase, status, discovery, parentTaskId },
  createdAt: isoOf(createdAt),
  lastError: lastError ?? null,
})

export const approve = async ({ queue, params, body, caller }: QueueCall<ReasonBody>): Promise<Handled> => {
  const { id = '' } = params
  return replyWith(
    await queue.submit({ type: 'Approve', approval: id, reason: body.reason }, caller),
    ({ spawned, retried }) => `{"approved":true,"spawned":${quoteAll(spawned)},"retried":${quoteAll(retried)}}`,
  )
}

export const refuse = async ({ queue, params, body, caller }: QueueCall<ReasonBody>): Promise<Handled> =>
  replyWith(await queue.submit({ type: 'Refuse', approval: params.id ?? '', reason: body.reason }, caller), () => '{"refused":true}')
