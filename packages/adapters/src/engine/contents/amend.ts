/** Gives tasks new payloads. The rest of a task's content stays, so the content is read from the log first. */
import { canonicalJson, type CommandOf, ContentText, type Json, type Replies, reject, taskOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { printed, taskBytesMaxDefault } from './prepare.js'
import { unavailable } from '../refusals.js'
import type { Answer, Caller, Outcome, QueueEngine, Refusal } from '../types.js'
import { contentOf, parseObject } from '../log/wire.js'

type WithPayload = CommandOf<'AmendTask'> | (CommandOf<'Retry'> & { readonly task: string })

/** How often a command is rebuilt because another one amended the payload meanwhile. */
const triesMax = 5

/**
 * Submits a command about one task with this payload, if there is one. If the task already has this payload, the command is submitted without it. `bytesMax`: the
 * limit on the task's content.
 */
export const submitWithPayload = async <C extends WithPayload>(
  engine: QueueEngine,
  command: C,
  payload: Json | undefined,
  caller: Caller,
  bytesMax = taskBytesMaxDefault,
): Promise<Outcome<Replies[C['type']]>> => {
  if (payload === undefined) return engine.submit(command, caller)
  for (let tries = 1; ; tries++) {
    const content = await contentWith(engine, command.task, payload, bytesMax)
    if (E.isLeft(content)) return content
    const outcome = await engine.submit({ ...command, ...content.right }, caller)
    if (E.isRight(outcome) || outcome.left.code !== 'conflict' || tries === triesMax) return outcome
    // Other conflicts are returned.
    const now = await revisionOf(engine, command.task)
    if (E.isLeft(now) || now.right.value === content.right.contentRevision) return outcome
  }
}

interface NewContent {
  readonly contentRevision: number
  /** Missing if the payload does not change. */
  readonly content?: string
}

const contentWith = async (engine: QueueEngine, task: string, payload: Json, bytesMax: number): Promise<E.Either<Refusal, NewContent>> => {
  const wanted = printed(payload, 'payload', bytesMax)
  if (E.isLeft(wanted)) return wanted
  const read = await revisionOf(engine, task)
  if (E.isLeft(read)) return read
  const contentRevision = read.right.value
  if (contentRevision === undefined) return E.left(reject('not-found', `no task ${task} in queue ${engine.name}: it was never enqueued here, or it finished and its retention is over`))
  const known = await contentAt(engine, contentRevision)
  if (known === undefined || 'withheld' in known) return E.left(unavailable(`the content of ${task} cannot be read from the log`))
  const { payload: former = null, ...rest } = known
  const others = Object.entries(rest).map(([name, value]) => `,"${name}":${canonicalJson(value)}`)
  if (wanted.right === canonicalJson(former)) return E.right({ contentRevision })
  const content = `{"payload":${wanted.right}${others.join('')}}`
  if (Buffer.byteLength(content) > bytesMax || !ContentText.is(content)) {
    return E.left(reject('too-large', `the task's payload, description and metadata would be over ${bytesMax} bytes: keep large inputs elsewhere and give a reference`))
  }
  return E.right({ contentRevision, content })
}

const revisionOf = (engine: QueueEngine, task: string): Promise<E.Either<Refusal, Answer<number | undefined>>> =>
  engine.read((state, at) => taskOf(state, task, at)?.contentRevision)

const contentAt = async (engine: QueueEngine, revision: number): Promise<Readonly<Record<string, unknown>> | undefined> => {
  try {
    const [data] = await engine.contents([revision])
    return data === undefined ? undefined : parseObject(contentOf(data) ?? '{}')
  } catch {
    // The caller is told that the content cannot be read.
    return undefined
  }
}
