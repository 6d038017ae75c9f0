/** Attempts that were not recorded: of tasks that never began, or that are tried more often than they were. */
import { keyOf, randomOf } from '../simulate/random.js'
import type { Attempt, RecordedTask } from './recording.js'

/** Ends that a task can come to by itself. */
const isUsual = ({ end }: Attempt): boolean => end.type === 'completed' || end.type === 'failed' || (end.type === 'silent' && end.cause === 'lease-expired')

const completesAtOnce: Attempt = { ms: 1_000, end: { type: 'completed' }, random: 0 }

/**
 * One of the recorded attempts at tasks of the same type; without any, at tasks of all types; without those, one of a second that completes. The same for the same seed, task and attempt, whatever
 * the settings are.
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
