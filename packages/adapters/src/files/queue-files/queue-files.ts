/**
 * Keeps a queue's files (LK-04): `pending.json`, `in-progress.json`, `completed.json`, `dead-letter.json`, `cancelled.json`, for tools that read such
 * files.
 *
 *     idle ──commit──▶ gathering (25 ms) ──▶ one moment of the state ──▶ five files ──▶ resting ──▶ idle
 *                          ▲                                    │                         │
 *                          ├──────── commits meanwhile ◀────────┼─────────────────────────┘
 *                          └── after a failure, with a pause ◀──┘
 *
 * There is one generation at a time, and all its files have one revision. Files are replaced one after the other: a reader that needs all five of the
 * same revision compares their `revision`. Everything is done in small steps, and resting takes four times as long as writing, so that a queue of any
 * length has most of its thread and disk for itself.
 *
 * The files are a view. If they cannot be written, nothing stops: the problem is reported, shown in the status, and writing is tried again.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Subscription } from 'rxjs'
import { backoff, pause } from '@daybook/client/common'
import { type Daybook, decodeRecorded, type QueueEngine, streamOf } from '../../engine/index.js'
import { contentsFrom } from '../../past/past-view.js'
import { shortTurns } from '../../short-turns.js'
import { removeLeftovers } from '../../disk/atomic-write.js'
import { readPart } from '../../disk/read-part.js'
import { ContentMemory } from './content-memory.js'
import { readMoment, writeFiles } from './generation.js'
import { makeFolder } from '../../disk/make-folder.js'
import { queueFileNames } from './queue-file-set.js'
import { ReviewLog } from './review-log.js'

/** How long commits are gathered before they are written, in milliseconds. */
const gatherMs = 25
/** Length of the rest, as a multiple of the time that writing took. */
const restShare = 4
const retryMs = { first: 250, most: 30_000 }
/** How long the stop of a server waits for its files, in milliseconds. */
const closeMsMax = 2_000

export interface QueueFilesOfOptions {
  readonly engine: QueueEngine
  readonly log: Daybook['log']
  readonly dir: string
  readonly warn: (message: string) => void
}

/** Why the files are out of date. */
export interface QueueFilesProblem {
  /** Without paths, because not everybody who may see the status may see these. */
  readonly reason: string
  /** When it began, in milliseconds since 1970. */
  readonly since: number
}

export interface QueueFilesStatus {
  readonly queue: string
  /** The revision of the files; -1 if the queue has no event, `undefined` before they were written. */
  readonly revision: number | undefined
  readonly problem: QueueFilesProblem | undefined
}

export interface QueueFiles {
  /** Resolves after the first attempt to write, successful or not. */
  readonly tried: Promise<void>
  readonly status: () => QueueFilesStatus
  /** Waits until the files have this revision, or a later one. */
  readonly shown: (revision: number) => Promise<void>
  /** Writes the state as it is now, for at most two seconds, then stops. */
  readonly close: () => Promise<void>
}

/** Starts at once with a first generation. */
export const startQueueFilesOf = (options: QueueFilesOfOptions): QueueFiles => new Writer(options)

class Writer implements QueueFiles {
  readonly tried: Promise<void>
  private readonly contents: ContentMemory
  private readonly reviews: ReviewLog
  private readonly subscription: Subscription
  private readonly backoff = backoff({ firstMs: retryMs.first, mostMs: retryMs.most, random: Math.random })
  private isCaughtUp = false
  private isDirty = true
  private readonly closing = new AbortController()
  private isGivenUp = false
  private running: Promise<void> | undefined
  private shownRevision: number | undefined
  private problem: QueueFilesProblem | undefined
  private waiters: Array<{ readonly revision: number; readonly resolve: () => void }> = []

  constructor(private readonly options: QueueFilesOfOptions) {
    const { engine, dir } = options
    this.contents = new ContentMemory(contentsFrom(options.log, engine.name))
    this.reviews = new ReviewLog(engine, dir)
    this.subscription = engine.committed.subscribe(({ from, events }) => {
      events.forEach((event, i) => this.reviews.note(event, from + i))
      this.isDirty = true
      this.running ??= this.run(gatherMs)
    })
    let first: () => void = () => undefined
    this.tried = new Promise((resolve) => (first = resolve))
    this.running = this.run(0, first)
  }

  status(): QueueFilesStatus {
    return { queue: this.options.engine.name, revision: this.shownRevision, problem: this.problem }
  }

  shown(revision: number): Promise<void> {
    if (this.shownRevision !== undefined && revision <= this.shownRevision) return Promise.resolve()
    return new Promise((resolve) => this.waiters.push({ revision, resolve }))
  }

  async close(): Promise<void> {
    this.subscription.unsubscribe()
    this.closing.abort()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, closeMsMax)))
    await Promise.race([this.finish(), late])
    clearTimeout(timer)
    this.isGivenUp = true
  }

  private async finish(): Promise<void> {
    await this.running
    if (this.isDirty) await this.attempt()
  }

  private async run(waitMs: number, tried: () => void = () => undefined): Promise<void> {
    const { signal } = this.closing
    if (waitMs > 0) await pause(waitMs, signal)
    while (this.isDirty && !signal.aborted) {
      const begun = performance.now()
      const isDone = await this.attempt()
      tried()
      await pause(isDone ? Math.max(gatherMs, (performance.now() - begun) * restShare) : this.backoff.next(), signal)
    }
    tried()
    this.running = undefined
  }

  /** Writes one generation. False if that failed, which is reported once. */
  private async attempt(): Promise<boolean> {
    const { dir, warn } = this.options
    this.isDirty = false
    try {
      const revision = await this.generation()
      if (this.problem !== undefined) warn(`the queue files in ${dir} are up to date again`)
      this.problem = undefined
      this.backoff.reset()
      this.tell(revision)
      return true
    } catch (error) {
      this.isDirty = true
      if (this.isGivenUp) return false
      if (this.problem === undefined) warn(`the queue files in ${dir} cannot be written, and are tried again: ${String(error)}`)
      this.problem = { reason: reasonOf(error), since: this.problem?.since ?? Date.now() }
      return false
    }
  }

  /** Writes one generation. Returns its revision. */
  private async generation(): Promise<number> {
    const { engine, dir } = this.options
    // The folder may have been removed.
    if (!(await isFolder(dir))) makeFolder(dir)
    if (!this.isCaughtUp) await this.catchUp()
    const turn = shortTurns(() => engine.status().appendsInFlight > 0)
    const othersTurn = (): Promise<void> => (this.isGivenUp ? Promise.reject(new Error('the server is stopping')) : turn())
    const moment = await readMoment(engine, othersTurn)
    // Decisions are written before the files. So a file of revision R means that the review log is complete up to R.
    await this.reviews.write(moment.revision)
    await writeFiles(dir, moment, this.contents, othersTurn)
    return moment.revision
  }

  private tell(shown: number): void {
    this.shownRevision = shown
    this.waiters = this.waiters.filter(({ revision, resolve }) => {
      if (revision > shown) return true
      resolve()
      return false
    })
  }

  /** Logs decisions that were made after the last generation on disk, and not logged because the server stopped. */
  private async catchUp(): Promise<void> {
    const { engine, log, dir } = this.options
    await removeLeftovers(dir, queueFileNames)
    const from = await shownOnDisk(dir)
    if (from !== undefined) {
      for await (const page of log.read(streamOf(engine.name), { from: from + 1 })) {
        for (const recorded of page) this.reviews.note(decodeRecorded(recorded), recorded.revision)
      }
    }
    this.isCaughtUp = true
  }
}

const isFolder = (path: string): Promise<boolean> => stat(path).then((found) => found.isDirectory(), () => false)

/** The message without the path: `EACCES: permission denied, open '/a/b'` without the part after the comma. */
const reasonOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  return (error as NodeJS.ErrnoException).code === undefined ? error.message : (error.message.split(', ')[0] ?? error.message)
}

/** The beginning of a file, in bytes, that contains its revision. */
const headBytes = 64

/** The revision of the files on disk, up to which the review log is complete; `undefined` for a new folder. */
const shownOnDisk = async (dir: string): Promise<number | undefined> => {
  const revisions: Array<number> = []
  for (const name of queueFileNames) {
    try {
      // -1 if the queue had no event.
      const match = /^\{"revision":(-?\d+),/.exec((await readPart(join(dir, name), 0, headBytes)).toString('latin1'))
      if (match !== null) revisions.push(Number(match[1]))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return revisions.length === 0 ? undefined : Math.min(...revisions)
}
