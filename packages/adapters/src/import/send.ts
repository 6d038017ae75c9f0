/** Taking a plan into a queue: in chunks, dependencies first, and one refused task stops no other. */
import * as E from 'fp-ts/lib/Either.js'
import { outsideDependencies, planImport } from './plan.js'
import type { ImportTask, Mapped, QueueFile, Refused } from './types.js'

/** What happened to one task of a chunk. */
export interface TakenIn {
  /** Of the task in the queue; another than the one sent when its key was there already. */
  readonly id: string
  readonly duplicate: boolean
}

/** The queue, as far as an import needs it. */
export interface ImportTarget {
  readonly has: (id: string) => Promise<boolean>
  /** All of the chunk or nothing; `Left` says why the queue refused it. Rejects when it cannot be reached. */
  readonly take: (tasks: ReadonlyArray<ImportTask>) => Promise<E.Either<string, ReadonlyArray<TakenIn>>>
}

export interface ImportReport {
  readonly files: ReadonlyArray<{ readonly name: string; readonly tasks: number }>
  /** Tasks that are in the queue now and were not before. */
  readonly took: number
  /** Tasks that were there already, whatever has become of them since. */
  readonly alreadyThere: number
  /** Those of `took`, by where they stand now. */
  readonly byStatus: Readonly<Record<string, number>>
  readonly mapped: ReadonlyArray<Mapped>
  readonly refused: ReadonlyArray<Refused>
}

/** Half of what one request may hold. */
export const chunkTasksMax = 500
export const chunkCharsMax = 1_000_000

export const importFiles = async (
  files: ReadonlyArray<QueueFile>,
  target: ImportTarget,
  progress: (done: number, of: number) => void = () => undefined,
): Promise<ImportReport> => {
  // 1. What the files depend on and do not hold may be in the queue.
  const known = new Set<string>()
  for (const id of outsideDependencies(files)) if (await target.has(id)) known.add(id)
  const plan = planImport(files, known)

  // 2. Send. A task whose key the queue knows under another id goes by that id from then on.
  const fileOf = new Map(files.flatMap((file) => file.found.map((found) => [found.task.id, found.file] as const)))
  const ids = new Map<string, string>()
  const gone = new Set<string>()
  const refused: Array<Refused> = [...plan.refused]
  const mapped: Array<Mapped> = [...plan.mapped]
  const byStatus: Record<string, number> = {}
  let took = 0
  let alreadyThere = 0
  let done = 0
  const refuse = (task: ImportTask, why: string): void => {
    gone.add(task.id)
    refused.push({ file: fileOf.get(task.id) ?? '', task: task.id, why })
  }

  const send = async (chunk: ReadonlyArray<ImportTask>): Promise<void> => {
    const ready: Array<ImportTask> = []
    for (const task of chunk) {
      const lost = task.dependencies?.find((id) => gone.has(id))
      if (lost !== undefined) refuse(task, `depends on ${lost}, which was refused`)
      else ready.push(task.dependencies === undefined ? task : { ...task, dependencies: task.dependencies.map((id) => ids.get(id) ?? id) })
    }
    const [first] = ready
    if (first === undefined) return
    const answer = await target.take(ready)
    if (E.isRight(answer)) {
      answer.right.forEach((result, i) => {
        const task = ready[i] as ImportTask
        if (result.duplicate) alreadyThere++
        else {
          took++
          byStatus[task.status] = (byStatus[task.status] ?? 0) + 1
        }
        if (result.id === task.id) return
        ids.set(task.id, result.id)
        mapped.push({ file: fileOf.get(task.id) ?? '', what: `is ${result.id} in the queue already, by its idempotencyKey`, tasks: [task.id] })
      })
    } else if (ready.length === 1) refuse(first, answer.left)
    else {
      // One of them is the reason: halve until it stands alone.
      const half = Math.ceil(ready.length / 2)
      await send(ready.slice(0, half))
      await send(ready.slice(half))
    }
  }
  progress(0, plan.took.length)
  for (const chunk of chunksOf(plan.took)) {
    await send(chunk)
    done += chunk.length
    progress(done, plan.took.length)
  }
  return { files: plan.files, took, alreadyThere, byStatus, mapped, refused }
}

/** In order, none over the bounds unless a single task is. */
export const chunksOf = (tasks: ReadonlyArray<ImportTask>): ReadonlyArray<ReadonlyArray<ImportTask>> => {
  const chunks: Array<Array<ImportTask>> = []
  let chars = 0
  for (const task of tasks) {
    const size = JSON.stringify(task).length
    const last = chunks[chunks.length - 1]
    if (last === undefined || last.length >= chunkTasksMax || chars + size > chunkCharsMax) {
      chunks.push([task])
      chars = size
    } else {
      last.push(task)
      chars += size
    }
  }
  return chunks
}
