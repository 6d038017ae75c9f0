/** Prints the JSON of a task from the state and the log. */
import type { TaskView } from '@daybook/core'
import { contentOf, type Claim, parseObject, type QueueView, resultRevisionOf } from '../../engine/index.js'
import type { Recalled } from '../../memory-bank/index.js'
import { sentText } from '../../sent-fields.js'
import { whyWithheld } from '../../task-keys/index.js'
import { membersOf, quote, quoteAll } from './text.js'
import { isoMemo, isoOf } from '../../iso-time.js'

const maybe = (key: string, value: string | undefined): string => (value === undefined ? '' : `,"${key}":${quote(value)}`)
const maybeTime = (key: string, ms: number | undefined): string => (ms === undefined ? '' : `,"${key}":"${isoOf(ms)}"`)
const timeOrNull = (ms: number | undefined): string => (ms === undefined ? 'null' : `"${isoOf(ms)}"`)
const textOrNull = (value: string | undefined): string => (value === undefined ? 'null' : quote(value))

/** The parts of a task that are only in the log, as JSON texts. */
interface Logged {
  readonly content: string | undefined
  readonly progress: string | undefined
  readonly checkpoint: string | undefined
  readonly result: string | undefined
  /** `{payload?}` of the last callback. */
  readonly callback: string | undefined
}

const taskText = (view: TaskView, { content, progress, checkpoint, result, callback }: Logged): string => {
  const { status, claimedBy, finishedAt, skills, deadLetterReason, leaseExpiresAt } = view
  const claimant = status === 'completed' ? undefined : claimedBy
  return (
    `{"id":${quote(view.id)},"number":${view.number},"type":${quote(view.type)},"priority":${view.priority}` +
    `,"status":"${status}"${membersOf(content)},"dependencies":${quoteAll(view.dependencies)}` +
    `,"timeout":${view.timeout},"maxRetries":${view.maxRetries},"backoffSeconds":${view.backoffSeconds}` +
    `,"idempotencyKey":${quote(view.idempotencyKey)},"retries":${view.retries},"attempts":${view.attempts}` +
    `,"attempt":${view.attempt},"attemptsMax":${view.attemptsMax}` +
    `,"claimants":${quoteAll(view.claimants)},"currentClaimant":${textOrNull(claimant)}` +
    `,"claimedBy":${textOrNull(claimedBy)},"claimedAt":${timeOrNull(view.claimedAt)}` +
    maybeTime('leaseExpiresAt', leaseExpiresAt) +
    (view.priorityBoosted === true ? ',"priorityBoosted":true' : '') +
    `,"createdAt":"${isoOf(view.createdAt)}"` +
    maybeTime('availableAt', view.availableAt) +
    parkedText(view) +
    (view.callback === undefined ? '' : `,"callback":${callbackText(view.callback, callback)}`) +
    `,"completedAt":${timeOrNull(status === 'completed' ? finishedAt : undefined)}` +
    maybeTime('finishedAt', finishedAt) +
    `,"lastError":${textOrNull(view.lastError)}` +
    (view.rateLimits === undefined ? '' : `,"rateLimits":${view.rateLimits}`) +
    maybe('signature', view.signature) +
    sentText(view) +
    (skills.length === 0 ? '' : `,"requires":{"skills":${quoteAll(skills)}}`) +
    (deadLetterReason === undefined
      ? ''
      : `,"deadLetter":{"at":${timeOrNull(view.deadLetteredAt)},"reason":"${deadLetterReason}"${maybeTime('snoozedUntil', view.snoozedUntil)}${escalatedText(view)}${holdsUpText(view)}}`) +
    (progress === undefined ? '' : `,"progress":${progress}`) +
    (checkpoint === undefined ? '' : `,"checkpoint":${checkpoint}`) +
    (result === undefined ? '' : `,"result":${result}`) +
    '}'
  )
}

const escalatedText = ({ escalated }: TaskView): string =>
  escalated === undefined ? '' : `,"escalated":{"at":"${isoOf(escalated.at)}","reviewer":${quote(escalated.reviewer)},"reason":${quote(escalated.reason)}}`

const holdsUpText = ({ holdsUp }: TaskView): string =>
  holdsUp === undefined ? '' : `,"holdsUp":{"dependents":${holdsUp.dependents},"inLine":${holdsUp.inLine}}`

const parkedText = ({ parked }: TaskView): string =>
  parked === undefined ? '' : `,"parked":{"callbackKey":${quote(parked.callbackKey)},"until":"${isoOf(parked.until)}","onTimeout":"${parked.onTimeout}"}`

/** A callback without a payload has `null`. `content`: the text of `{payload?}`. */
const callbackText = ({ key, at }: { readonly key: string; readonly at: number }, content = '{}'): string =>
  `{"key":${quote(key)},"at":"${isoOf(at)}"${content === '{}' ? ',"payload":null' : membersOf(content)}}`

/** The result of a completed task as JSON text. */
export const resultText = async (queue: Pick<QueueView, 'contents'>, view: TaskView): Promise<string | undefined> => {
  if (view.status !== 'completed') return undefined
  const revision = resultRevisionOf(view)
  const [data] = await queue.contents([revision ?? view.contentRevision])
  const content = data === undefined ? undefined : contentOf(data)
  if (revision !== undefined || content === undefined) return content
  // A task that was imported as completed has its result in its own content.
  return memberOf(content, 'result')
}

/** The text of one member of an event's data, or of its content. */
const memberOf = (data: string | undefined, name: 'progress' | 'checkpoint' | 'result'): string | undefined => {
  const value = data === undefined ? undefined : parseObject(data)?.[name]
  return value === undefined ? undefined : JSON.stringify(value)
}

/** Takes the finish time of an imported task from its event. The state has the time of the import, from which retention counts. */
const asFinished = (view: TaskView, data: string | undefined): TaskView => {
  if (view.finishedAt === undefined || (view.lastRevision !== view.enqueuedRevision && !isErased(data))) return view
  // Quotes within values are escaped, so this matches only the member itself.
  const [, finishedAt] = /,"finishedAt":(\d+)/.exec(data ?? '') ?? []
  return finishedAt === undefined ? view : { ...view, finishedAt: Number(finishedAt) }
}

/** The data of an erased task contain nothing that a user wrote. */
const isErased = (data = ''): boolean => whyWithheld(contentOf(data) ?? '') === 'erased'

/** Number of tasks whose contents are read at a time. */
const joinMax = 100

/**
 * The tasks' texts, in order, up to `bytesMax`; at least one if there are tasks. Without the limit, a page of a thousand tasks of 256 KiB would take
 * 256 MiB.
 */
export const taskTexts = async (
  queue: Pick<QueueView, 'contents'>,
  views: ReadonlyArray<TaskView>,
  bytesMax = Number.POSITIVE_INFINITY,
): Promise<ReadonlyArray<string>> => {
  const texts: Array<string> = []
  let size = 0
  for (let from = 0; from < views.length; from += joinMax) {
    const part = views.slice(from, from + joinMax)
    const dataAt = await datasAt(queue, part)
    const contentAt = (revision: number | undefined): string | undefined => {
      const data = dataAt(revision)
      return data === undefined ? undefined : contentOf(data)
    }
    for (const view of part) {
      const text = taskText(asFinished(view, dataAt(view.contentRevision)), {
        content: contentAt(view.contentRevision),
        progress: memberOf(dataAt(view.progressRevision), 'progress'),
        checkpoint: memberOf(dataAt(view.checkpointRevision), 'checkpoint'),
        result: contentAt(resultRevisionOf(view)),
        callback: contentAt(view.callback?.revision),
      })
      size += text.length
      if (size > bytesMax && texts.length > 0) return texts
      texts.push(text)
    }
  }
  return texts
}

type DataAt = (revision: number | undefined) => string | undefined

/** Reads the data of all events that the tasks' texts need, each event once. */
const datasAt = async (queue: Pick<QueueView, 'contents'>, views: ReadonlyArray<TaskView>): Promise<DataAt> => {
  const wanted = new Set<number>()
  for (const view of views) {
    for (const revision of [view.contentRevision, view.progressRevision, view.checkpointRevision, resultRevisionOf(view), view.callback?.revision]) {
      if (revision !== undefined) wanted.add(revision)
    }
  }
  const revisions = [...wanted]
  const datas = await queue.contents(revisions)
  const known = new Map(revisions.map((revision, index) => [revision, datas[index]]))
  return (revision) => (revision === undefined ? undefined : known.get(revision))
}

/** The answer to a claim. This is a hot path, so the text is built without intermediate objects. */
export const claimsText = (claims: ReadonlyArray<Claim>, agent: string, recalled?: Recalled): string => {
  const claimedBy = quote(agent)
  const created = isoMemo()
  const expires = isoMemo()
  let text = '{"claims":['
  for (let i = 0; i < claims.length; i++) {
    const claim = claims[i] as Claim
    const { checkpoint, dependencies } = claim
    text +=
      `${i === 0 ? '' : ','}{"task":{"id":${quote(claim.task)},"number":${claim.number},"type":${quote(claim.type)}` +
      `,"priority":${claim.priority},"status":"in-progress"${membersOf(claim.content)}` +
      `,"dependencies":${dependencies.length === 0 ? '[]' : quoteAll(dependencies)}` +
      `,"timeout":${claim.timeout},"maxRetries":${claim.maxRetries},"retries":${claim.retries}` +
      `,"attempts":${claim.attempts},"attempt":${claim.attempt},"attemptsMax":${claim.attemptsMax}` +
      `,"idempotencyKey":${quote(claim.idempotencyKey)},"claimedBy":${claimedBy},"createdAt":"${created(claim.createdAt)}"`
    text += sentText(claim)
    text += `},"lease":{"token":${claim.token},"expiresAt":"${expires(claim.expiresAt)}"`
    text += `,"seconds":${claim.leaseMs / 1_000},"waitedSeconds":${Math.floor(claim.waitedMs) / 1_000}},"attempt":${claim.attempt}`
    if (checkpoint !== undefined) text += `,"checkpoint":${checkpoint}`
    if (claim.callbackReceived !== undefined) text += `,"callback":${callbackText(claim.callbackReceived, claim.callback)}`
    const memories = recalled?.memories[i]
    if (memories !== undefined && memories.length > 0) text += `,"memories":${JSON.stringify(memories)}`
    text += '}'
  }
  return recalled?.missing === undefined ? `${text}]}` : `${text}],"memoriesMissing":${quote(recalled.missing)}}`
}
