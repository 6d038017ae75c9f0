/** Attempts that were not recorded, because a task never began or is tried more often in the model. */
import { keyOf, randomOf } from '../simulate/random.js'
import type { Attempt, RecordedTask } from './recording.js'

/** Whether a task can come to this end by itself. */
const isUsual = ({ end }: Attempt): boolean => end.type === 'completed' || end.type === 'failed' || (end.type === 'silent' && end.cause === 'lease-expired')

const completesAtOnce: Attempt = { ms: 1_000, end: { type: 'completed' }, random: 0 }

/**
 * Draws a recorded attempt at a task of the same type. If there is none, it draws from the attempts at tasks of all types; if there are none at all,
 * it returns a completion after one second. The result depends only on seed, task and attempt, not on the settings.
 */
export const drawer = (tasks: ReadonlyArray<RecordedTask>, seed: number): ((task: RecordedTask, attempt: number) => Attempt) => {
  const byType = new Map<string, Array<Attempt>>()
  const all: Array<Attempt> = []
  for (const { facts: { type }, attempts } of tasks) {
    const usual = attempts.filter(isUsual)
    const known = byType.get(type)
    if (known === undefined) byType.set(type, usual)
    else known.push(...usual)
    all.push(...usual)
  }
  return ({ facts: { task, type } }, attempt) => {
    const random = randomOf(seed, keyOf(task), attempt)
    const same = byType.get(type) ?? []
    const from = same.length > 0 ? same : all
    const chosen = from[Math.floor(random() * from.length)] ?? completesAtOnce
    return { ...chosen, random: random() }
  }
}
