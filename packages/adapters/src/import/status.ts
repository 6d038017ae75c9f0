/** How far a task got: by its own word, or by the name of the file it stands in. */
import type { Stage } from './types.js'

/** All words met for one stage, without case, spaces, hyphens and underscores. */
const words: Readonly<Record<string, Stage>> = {
  pending: 'pending',
  queued: 'pending',
  scheduled: 'pending',
  blocked: 'pending',
  waiting: 'pending',
  ready: 'pending',
  todo: 'pending',
  open: 'pending',
  new: 'pending',
  inprogress: 'in-progress',
  incomplete: 'in-progress',
  running: 'in-progress',
  active: 'in-progress',
  claimed: 'in-progress',
  working: 'in-progress',
  completed: 'completed',
  complete: 'completed',
  done: 'completed',
  finished: 'completed',
  success: 'completed',
  failed: 'dead-letter',
  deadletter: 'dead-letter',
  deadlettered: 'dead-letter',
  dead: 'dead-letter',
  cancelled: 'cancelled',
  canceled: 'cancelled',
  discarded: 'cancelled',
}

/** The stage that a status means; `undefined` for a word that is not known. */
export const stageOf = (status: string): Stage | undefined => {
  const word = status.toLowerCase().replace(/[\s_-]/g, '')
  return Object.hasOwn(words, word) ? words[word] : undefined
}

/** `queue/in_progress.json` says in-progress; a name that says nothing is `undefined`. */
export const stageOfFile = (name: string): Stage | undefined =>
  stageOf((name.split(/[\\/]/).pop() ?? '').replace(/\.json$/i, ''))
