/** The words for a task's status: in the task itself, in the name of its list, or in the name of its file. */
import type { Stage } from './types.js'

/** The words for each stage. Case, and anything but letters and digits, is ignored. */
const wordsOf: Readonly<Record<Stage, ReadonlyArray<string>>> = {
  pending: ['pending', 'queued', 'scheduled', 'blocked', 'waiting', 'ready', 'todo', 'open', 'new', 'backlog', 'planned', 'not started'],
  'in-progress': ['in progress', 'incomplete', 'running', 'active', 'claimed', 'working', 'started', 'processing', 'doing', 'assigned'],
  'dead-letter': ['dead letter', 'dead letters', 'dead lettered', 'dead', 'failed', 'failure', 'error', 'errored'],
  cancelled: ['cancelled', 'canceled', 'discarded', 'skipped', 'abandoned', 'aborted', 'obsolete', 'rejected', 'wont fix'],
  completed: ['completed', 'complete', 'done', 'finished', 'success', 'succeeded', 'successful', 'shipped', 'merged', 'closed', 'resolved', 'passed'],
}

const stages = new Map<string, Stage>()
const normal = (word: string): string => word.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
for (const [stage, words] of Object.entries(wordsOf) as ReadonlyArray<[Stage, ReadonlyArray<string>]>) {
  for (const word of words) stages.set(normal(word), stage)
}

/** The stage that a status means; `undefined` for an unknown word. */
export const stageOf = (status: string): Stage | undefined => stages.get(normal(status))

/** The task in `blocked_by_C1`, which is a status and names a dependency. */
export const blockerIn = (status: string): string | undefined => /^blocked[\s_-]*by[\s_:-]+(\S.*)$/i.exec(status.trim())?.[1]

/** Words in names of lists and files that say nothing about the status. */
const neutral = /tasks?|queue|items?|list|jobs?|entries|todos/g

export interface ListMeaning {
  /** `undefined` if the name only says that these are tasks. */
  readonly stage: Stage | undefined
}

/** The meaning of a name: `completed_tasks` is a list of completed tasks, `queue` a list of tasks. `undefined` for an unknown name. */
export const meaningOf = (name: string): ListMeaning | undefined => {
  const word = normal(name)
  const stage = stages.get(word) ?? stages.get(word.replace(neutral, ''))
  if (stage !== undefined) return { stage }
  return word.replace(neutral, '') === '' ? { stage: undefined } : undefined
}

/** Whether the word is the stage's own name, in any spelling. */
export const isOwnWord = (word: string, stage: Stage): boolean => normal(word).replace(neutral, '') === normal(stage)

/** The stage in a file's name: `queue/in_progress.json` means in-progress. `undefined` if the name says nothing. */
export const stageOfFile = (name: string): Stage | undefined =>
  meaningOf((name.split(/[\\/]/).pop() ?? '').replace(/\.json$/i, ''))?.stage
