/** Restarts a task: reads its content from the log, and enqueues it again. */
import { canonicalJson, ContentText, type Json, reject, taskOf, type Replies } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { newTaskId } from '@daybook/client/common'
import type { Caller, Outcome, QueueEngine } from '../types.js'
import { unavailable } from '../refusals.js'
import { whyWithheld } from '../../task-keys/index.js'
import { defined } from '../../defined.js'
import { contentOf } from '../log/wire.js'

/** The members of a task's content. An imported task also has a result there. */
const members = ['payload', 'description', 'metadata'] as const

export interface RestartOptions {
  /** Id of the new task, by which a repeated request is recognised. */
  readonly id?: string | undefined
  /** What the new task waits for besides the dependencies of the old one. */
  readonly dependencies?: ReadonlyArray<string> | undefined
}

export const restartTask = async (
  engine: QueueEngine,
  task: string,
  reason: string,
  caller: Caller,
  { id = newTaskId(), dependencies }: RestartOptions = {},
): Promise<Outcome<Replies['Restart']>> => {
  const read = await engine.read((state, at) => taskOf(state, task, at))
  if (E.isLeft(read)) return read
  const view = read.right.value
  if (view === undefined) return E.left(reject('not-found', `no task ${task} in queue ${engine.name}: it was never enqueued here, or it finished and its retention is over`))
  const [data] = await engine.contents([view.contentRevision])
  const content = data === undefined ? undefined : contentIn(data)
  if (content === 'withheld') return E.left(reject('wrong-state', `the content of ${task} was erased, or its key is not here: enqueue a new task`))
  if (content === undefined) return E.left(unavailable(`the content of ${task} cannot be read from the log`))
  return engine.submit({ type: 'Restart', task: view.id, id, reason, content, ...defined({ dependencies }) }, caller)
}

const contentIn = (data: string): string | 'withheld' | undefined => {
  if (whyWithheld(contentOf(data) ?? '') !== undefined) return 'withheld'
  const { content } = JSON.parse(data) as { readonly content?: Readonly<Record<string, Json>> }
  if (content === undefined) return undefined
  const kept = members.flatMap((name) => (content[name] === undefined ? [] : [`"${name}":${canonicalJson(content[name], name)}`]))
  const text = `{${kept.join(',')}}`
  return ContentText.is(text) ? text : undefined
}
