/** What is remembered of a completion. */
import { clipped, type Json, redacted, redactedIn } from '@daybook/core'
import { defined, ifDefined } from '../defined.js'
import { contentOf, parseObject, readStamp } from '../engine/index.js'
import type { RecordedEvent } from '../store/index.js'
import type { Memory } from './memory-bank.js'
import { isObject } from '../is-object.js'

type Members = Readonly<Record<string, unknown>>

const textMax = 2_000
const listMax = 20
const filesMax = 50
const itemMax = 1_000

/** Whether the text of a result may have discoveries or errors. Cheap, and seldom wrong. */
export const mayMatter = (text: string): boolean => /"(?:discoveries|errors)":\[[^\]]/.test(text)

/**
 * The memory of a completion; `undefined` if it has neither discoveries nor errors. `enqueued`: the first event of the task, if it is known.
 * `amended`: the last event that changed its payload, if there is one.
 *
 * Errors of a task that validated another one are remembered like discoveries, because whoever works on the ticket next must know them.
 */
export const memoryOf = (queue: string, completed: RecordedEvent, enqueued: RecordedEvent | undefined, amended?: RecordedEvent): Memory | undefined => {
  const { task, token } = (parseObject(completed.data) ?? {}) as { readonly task?: string; readonly token?: number }
  const result = parseObject(contentOf(completed.data) ?? '')
  if (task === undefined || result === undefined) return undefined
  const discoveries = listIn(result.discoveries).slice(0, listMax).map((each) => short(each))
  const errors = textsIn(result.errors).slice(0, listMax).map((each) => clipped(each, itemMax))
  if (discoveries.length === 0 && errors.length === 0) return undefined
  const facts = parseObject(enqueued?.data ?? '') ?? {}
  const content = parseObject(contentOf((amended ?? enqueued)?.data ?? '') ?? '') ?? {}
  const files = filesOf(result)
  const memory: Memory = {
    id: `${queue}:${task}:${token ?? 0}`,
    queue,
    task,
    type: textIn(facts.type) ?? 'unknown',
    at: new Date(readStamp(completed.metadata, completed.created)?.at ?? 0).toISOString(),
    ...defined({ phase: textIn(facts.phase), ticketId: textIn(facts.ticketId), goal: goalOf(content), summary: summaryOf(result) }),
    ...(files.length === 0 ? {} : { files }),
    ...(discoveries.length === 0 ? {} : { discoveries }),
    ...(errors.length === 0 ? {} : { errors }),
  }
  return withoutSecrets(memory)
}

/** Ids come from the log and are needed to find the task. Everything else was written by people and agents. */
const withoutSecrets = (memory: Memory): Memory => {
  const { goal, summary, files, discoveries, errors } = memory
  return {
    ...memory,
    ...defined({
      goal: ifDefined(goal, redactedIn),
      summary: ifDefined(summary, redactedIn),
      files: files?.map(redactedIn),
      discoveries: discoveries?.map(redacted),
      errors: errors?.map(redactedIn),
    }),
  }
}

const textIn = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)
const listIn = (value: unknown): ReadonlyArray<unknown> => (Array.isArray(value) ? value : [])
const textsIn = (value: unknown): ReadonlyArray<string> => listIn(value).filter((each): each is string => typeof each === 'string' && each !== '')

const short = (value: unknown): Json => {
  const text = JSON.stringify(value)
  return text.length <= 2 * itemMax ? (value as Json) : clipped(text, 2 * itemMax)
}
const shortText = (value: unknown): string | undefined => {
  if (value === undefined || value === null || value === '') return undefined
  return clipped(typeof value === 'string' ? value : JSON.stringify(value), textMax)
}

const goalOf = ({ description, payload }: Members): string | undefined => shortText(description ?? (isObject(payload) ? (payload.goal ?? payload) : payload))

const summaryOf = ({ output, decisionReport, status }: Members): string | undefined =>
  shortText((isObject(output) ? (output.summary ?? output) : output) ?? decisionReport ?? status)

const filesOf = ({ output }: Members): ReadonlyArray<string> => {
  if (!isObject(output)) return []
  const names = ['files', 'affectedFiles', 'affected_files', 'changedFiles', 'changed_files', 'filesChanged', 'files_changed', 'paths']
  return [...new Set(names.flatMap((name) => textsIn(output[name])))].slice(0, filesMax).map((path) => clipped(path, itemMax))
}
