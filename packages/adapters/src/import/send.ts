/** Sends a plan to a queue in chunks, dependencies first. A refused task does not stop the others. */
import { plural, type Status } from '@daybook/core/common'
import * as E from 'fp-ts/lib/Either.js'
import { namedTasks, planImport } from './plan.js'
import type { ImportOptions, ImportPlan, ImportTask, KnownTasks, Mapped, QueueFile, Refused } from './types.js'

/** What happened to one task of a chunk. */
export interface TakenIn {
  /** The task's id in the queue. It differs from the one that was sent if another task has its key. */
  readonly id: string
  readonly duplicate: boolean
  /** Its present status in the queue. */
  readonly status: Status
}

/** The operations of a queue that an import needs. */
export interface ImportTarget {
  /** The status of a task; `undefined` if the queue does not know it. */
  readonly statusOf: (id: string) => Promise<Status | undefined>
  /** Imports all tasks of the chunk or none. `Left` says why the queue refused it. Rejects if the queue cannot be reached. */
  readonly take: (tasks: ReadonlyArray<ImportTask>) => Promise<E.Either<string, ReadonlyArray<TakenIn>>>
}

/** Every task in the files is counted in exactly one of `took`, `alreadyThere`, `repeated` and `refused`. */
export interface ImportReport {
  readonly files: ReadonlyArray<{ readonly name: string; readonly tasks: number }>
  /** Number of tasks that this import added to the queue. */
  readonly took: number
  /** Number of tasks that were in the queue before, whatever has become of them. */
  readonly alreadyThere: number
  /** Number of entries that repeat a task in another position. */
  readonly repeated: number
  /** The added tasks by their present status. */
  readonly byStatus: Readonly<Partial<Record<Status, number>>>
  readonly mapped: ReadonlyArray<Mapped>
  readonly refused: ReadonlyArray<Refused>
}

export interface ImportSteps extends ImportOptions {
  readonly progress?: (step: 'asking' | 'importing', done: number, of: number) => void
}

/** Half of what one request may contain. */
const chunkTasksMax = 500
const chunkCharsMax = 1_000_000
/** The largest number of requests in flight. */
const askMax = 32

/** The import was interrupted. The imported tasks are in the queue, and running the import again continues it. */
export class ImportStopped extends Error {
  override readonly name = 'ImportStopped'
  constructor(
    readonly done: number,
    readonly of: number,
    override readonly cause: unknown,
  ) {
    super(`stopped after ${done} of ${plural(of, 'task')}`)
  }
}

/** @throws ImportStopped if the queue can no longer be reached. */
export const importFiles = async (files: ReadonlyArray<QueueFile>, target: ImportTarget, { ranks, progress = () => undefined }: ImportSteps = {}): Promise<ImportReport> => {
  const known = await askFor(namedTasks(files), target, progress)
  const plan = planImport(files, known, ranks === undefined ? {} : { ranks })
  const sender = new Sender(plan, files, target)
  const { length } = plan.took
  progress('importing', 0, length)
  let done = 0
  for (const chunk of chunksOf(plan.took)) {
    try {
      await sender.send(chunk)
    } catch (error) {
      throw new ImportStopped(done, length, error)
    }
    done += chunk.length
    progress('importing', done, length)
  }
  return sender.report()
}

/** Returns what `importFiles` would do. Writes nothing. */
export const tryImport = async (files: ReadonlyArray<QueueFile>, target: Pick<ImportTarget, 'statusOf'>, { ranks, progress = () => undefined }: ImportSteps = {}): Promise<ImportReport> => {
  const known = await askFor([...new Set([...namedTasks(files), ...files.flatMap(({ found }) => found.map(({ task }) => task.id))])], target, progress)
  const plan = planImport(files, known, ranks === undefined ? {} : { ranks })
  const sender = new Sender(plan, files, { statusOf: target.statusOf, take: async (tasks) => E.right(foretell(tasks, known)) })
  await sender.send(plan.took)
  return sender.report()
}

/** Predicts the queue's answer. Dependencies must come before their dependents. */
const foretell = (tasks: ReadonlyArray<ImportTask>, known: KnownTasks): ReadonlyArray<TakenIn> => {
  const statuses = new Map<string, Status>(known)
  return tasks.map((task) => {
    const { id, status, dependencies = [], availableAt } = task
    const there = known.get(id)
    if (there !== undefined) return { id, duplicate: true, status: there }
    const isBlocked = dependencies.some((dependency) => statuses.get(dependency) !== 'completed')
    const isDelayed = availableAt !== undefined && Date.parse(availableAt) > Date.now()
    const next = status !== 'pending' ? status : isBlocked ? 'blocked' : isDelayed ? 'scheduled' : 'pending'
    statuses.set(id, next)
    return { id, duplicate: false, status: next }
  })
}

const askFor = async (ids: ReadonlyArray<string>, { statusOf }: Pick<ImportTarget, 'statusOf'>, progress: NonNullable<ImportSteps['progress']>): Promise<KnownTasks> => {
  const known = new Map<string, Status>()
  for (let at = 0; at < ids.length; at += askMax) {
    progress('asking', at, ids.length)
    const part = ids.slice(at, at + askMax)
    const statuses = await Promise.all(part.map(statusOf))
    part.forEach((id, i) => {
      const status = statuses[i]
      if (status !== undefined) known.set(id, status)
    })
  }
  return known
}

class Sender {
  private readonly fileOf: ReadonlyMap<string, string>
  /** The id in the queue of each task whose key exists there under another id. */
  private readonly ids = new Map<string, string>()
  private readonly gone = new Set<string>()
  private readonly refused: Array<Refused>
  private readonly mapped: Array<Mapped>
  private readonly byStatus: Partial<Record<Status, number>> = {}
  private took = 0
  private alreadyThere = 0

  constructor(
    private readonly plan: ImportPlan,
    files: ReadonlyArray<QueueFile>,
    private readonly target: ImportTarget,
  ) {
    this.fileOf = new Map(files.flatMap((file) => file.found.map((found) => [found.task.id, found.file] as const)))
    this.refused = [...plan.refused]
    this.mapped = [...plan.mapped]
  }

  async send(chunk: ReadonlyArray<ImportTask>): Promise<void> {
    const ready = this.ready(chunk)
    const [first] = ready
    if (first === undefined) return
    const answer = await this.target.take(ready)
    if (E.isRight(answer)) answer.right.forEach((result, i) => this.count(ready[i] as ImportTask, result))
    else if (ready.length === 1) this.refuse(first, answer.left)
    else {
      // At least one of them is refused: the chunk is halved until that task is found.
      const half = Math.ceil(ready.length / 2)
      await this.send(ready.slice(0, half))
      await this.send(ready.slice(half))
    }
  }

  report(): ImportReport {
    const { plan, took, alreadyThere, byStatus, mapped, refused } = this
    return { files: plan.files, took, alreadyThere, repeated: plan.repeated, byStatus, mapped, refused }
  }

  private ready(chunk: ReadonlyArray<ImportTask>): ReadonlyArray<ImportTask> {
    const ready: Array<ImportTask> = []
    for (const task of chunk) {
      const lost = task.dependencies?.find((id) => this.gone.has(id))
      if (lost !== undefined) this.refuse(task, `depends on ${lost}, which was refused`)
      else ready.push(task.dependencies === undefined ? task : { ...task, dependencies: task.dependencies.map((id) => this.ids.get(id) ?? id) })
    }
    return ready
  }

  private count(task: ImportTask, { id, duplicate, status }: TakenIn): void {
    if (duplicate) this.alreadyThere++
    else {
      this.took++
      this.byStatus[status] = (this.byStatus[status] ?? 0) + 1
    }
    if (id === task.id) return
    this.ids.set(task.id, id)
    this.mapped.push({ file: this.fileOf.get(task.id) ?? '', what: `is ${id} in the queue already, by its idempotencyKey`, tasks: [task.id] })
  }

  private refuse(task: ImportTask, why: string): void {
    this.gone.add(task.id)
    this.refused.push({ file: this.fileOf.get(task.id) ?? '', task: task.id, why, tasks: 1 })
  }
}

/** Splits tasks into chunks within the bounds. A task that is too large gets its own chunk. */
const chunksOf = (tasks: ReadonlyArray<ImportTask>): ReadonlyArray<ReadonlyArray<ImportTask>> => {
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
