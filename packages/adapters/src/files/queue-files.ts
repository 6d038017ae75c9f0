/**
 * Keeps a queue's files (LK-04): `pending.json`, `in-progress.json`, `completed.json`, `dead-letter.json`,
 * `cancelled.json`, for tools made for such files.
 *
 *     idle ──commit──▶ gathering (25 ms) ──▶ one read of the state ──▶ five files ──▶ idle
 *                          ▲                                             │
 *                          └───── commits meanwhile, after a pause ◀─────┘
 *
 * One generation at a time, all of one revision. Files are replaced whole, one after the other: a reader that
 * wants all five from one moment compares their `revision`. The pause is at least as long as the writing
 * took, so that the files never take more than half of the disk's time from the log.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { isUnreadable, type QueueState, revisionOf, taskOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { Subscription } from 'rxjs'
import { type Daybook, decodeRecorded, type QueueEngine, streamOf } from '../engine/index.js'
import { writeWhole } from './atomic-write.js'
import { ContentMemory } from './content-memory.js'
import { makeFolder } from './make-folder.js'
import { type FileList, fileLists, fileRules } from './queue-file-set.js'
import { recordText, resultRevisionOf } from './queue-record.js'
import { appendReviews, decisionOf, loggedRevisions, type ReviewDecision } from './review-log.js'
import { syncFolder } from './sync-folder.js'

/** How long commits are gathered before they are shown. */
const gatherMs = 25
/** Characters of one file beyond which it lists no more tasks. */
const fileCharsMax = 16 * 2 ** 20
const retryMs = 1_000

export interface QueueFilesOfOptions {
  readonly engine: QueueEngine
  readonly log: Daybook['log']
  readonly dir: string
  readonly warn: (message: string) => void
}

export interface QueueFiles {
  /** Waits until the files show this revision, or a later one. */
  readonly shown: (revision: number) => Promise<void>
  /** Shows what has happened until now, then stops. */
  readonly close: () => Promise<void>
}

/** Starts with a first generation; resolves when it is written, and rejects when it cannot be. */
export const startQueueFilesOf = async (options: QueueFilesOfOptions): Promise<QueueFiles> => {
  const writer = new Writer(options)
  await writer.start()
  return writer
}

class Writer implements QueueFiles {
  private readonly contents: ContentMemory
  private subscription: Subscription | undefined
  private decisions: Array<ReviewDecision> = []
  private isDirty = false
  private isClosing = false
  private running: Promise<void> | undefined
  private wakeEarly: () => void = () => undefined
  private shownRevision = -1
  private waiters: Array<{ readonly revision: number; readonly resolve: () => void }> = []
  private isFailing = false

  constructor(private readonly options: QueueFilesOfOptions) {
    this.contents = new ContentMemory(options.engine)
  }

  async start(): Promise<void> {
    const { engine, dir } = this.options
    makeFolder(dir)
    const before = await shownOnDisk(dir)
    this.subscription = engine.committed.subscribe(({ from, events }) => {
      events.forEach((event, i) => {
        const decision = isUnreadable(event) ? undefined : decisionOf(event, from + i)
        if (decision !== undefined) this.decisions.push(decision)
      })
      this.isDirty = true
      this.running ??= this.run()
    })
    try {
      await this.catchUp(before)
      await this.generation()
    } catch (error) {
      this.subscription.unsubscribe()
      throw error
    }
  }

  shown(revision: number): Promise<void> {
    return revision <= this.shownRevision ? Promise.resolve() : new Promise((resolve) => this.waiters.push({ revision, resolve }))
  }

  async close(): Promise<void> {
    this.subscription?.unsubscribe()
    this.isClosing = true
    this.wakeEarly()
    await this.running
    if (this.isDirty) await this.attempt()
  }

  private async run(): Promise<void> {
    while (this.isDirty && !this.isClosing) {
      await this.pause(gatherMs)
      if (this.isClosing) break
      const began = performance.now()
      const done = await this.attempt()
      await this.pause(done ? performance.now() - began : retryMs)
    }
    this.running = undefined
  }

  private pause(ms: number): Promise<void> {
    if (this.isClosing) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wakeEarly = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** A full disk must not stop the queue: it is said once, and tried again. */
  private async attempt(): Promise<boolean> {
    this.isDirty = false
    try {
      await this.generation()
      this.isFailing = false
      return true
    } catch (error) {
      this.isDirty = true
      if (!this.isFailing) this.options.warn(`the queue files in ${this.options.dir} cannot be written, and are tried again: ${String(error)}`)
      this.isFailing = true
      return false
    }
  }

  private async generation(): Promise<void> {
    const { engine, dir } = this.options
    const { revision, lists } = await ask(engine, (state) => ({ revision: revisionOf(state), lists: fileLists(state) }))
    // Decisions come before the files: a file of revision R vouches for the review log up to R. All of them have been heard of by now.
    const decisions = this.decisions.filter((decision) => decision.revision <= revision)
    if (decisions.length > 0) {
      const reviewed = await ask(engine, (state) => new Map(decisions.map(({ task }) => [task, taskOf(state, task)])))
      await appendReviews(dir, decisions, (id) => reviewed.get(id))
    }
    this.decisions = this.decisions.filter((decision) => decision.revision > revision)
    await this.write(lists, revision)
    this.shownRevision = revision
    this.waiters = this.waiters.filter(({ revision: wanted, resolve }) => {
      if (wanted > revision) return true
      resolve()
      return false
    })
  }

  private async write(lists: ReadonlyArray<FileList>, revision: number): Promise<void> {
    const views = lists.flatMap((list) => list.views)
    const texts = await this.contents.get(views.flatMap((view) => [view.enqueuedRevision, resultRevisionOf(view) ?? []].flat()))
    for (const { name, total, views: listed } of lists) {
      const records: Array<string> = []
      let chars = 0
      for (const view of listed) {
        const result = resultRevisionOf(view)
        const text = recordText(view, texts.get(view.enqueuedRevision), result === undefined ? undefined : texts.get(result))
        chars += text.length
        if (chars > fileCharsMax) break
        records.push(text)
      }
      const head = `{"revision":${revision},"total":${total},"tasks":[`
      await writeWhole(join(this.options.dir, name), [`${head}${records.length === 0 ? '' : '\n'}${records.join(',\n')}${records.length === 0 ? '' : '\n'}]}\n`])
    }
    await syncFolder(this.options.dir)
  }

  /** Decisions made after the last generation on disk, and not logged because the server stopped. */
  private async catchUp(from: number | undefined): Promise<void> {
    if (from === undefined) return
    const { engine, log, dir } = this.options
    const missed: Array<ReviewDecision> = []
    for await (const page of log.read(streamOf(engine.name), { from: from + 1 })) {
      for (const recorded of page) {
        const event = decodeRecorded(recorded)
        const decision = isUnreadable(event) ? undefined : decisionOf(event, recorded.revision)
        if (decision === undefined) continue
        const logged = await loggedRevisions(dir, decision.at)
        if (!logged.has(decision.revision)) missed.push(decision)
      }
    }
    // What has been committed since we listen is in both.
    const known = new Set(missed.map(({ revision }) => revision))
    this.decisions = [...missed, ...this.decisions.filter(({ revision }) => !known.has(revision))]
  }
}

const ask = async <A>(engine: QueueEngine, query: (state: QueueState) => A): Promise<A> => {
  const answer = await engine.read(query)
  if (E.isLeft(answer)) throw new Error(answer.left.detail)
  return answer.right.value
}

/** The revision up to which the files on disk, and so the review log, are complete; `undefined` for a new folder. */
const shownOnDisk = async (dir: string): Promise<number | undefined> => {
  const revisions: Array<number> = []
  for (const { name } of fileRules) {
    try {
      const text = await readFile(join(dir, name), 'utf8')
      const match = /^\{"revision":(\d+),/.exec(text)
      if (match !== null) revisions.push(Number(match[1]))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  }
  return revisions.length === 0 ? undefined : Math.min(...revisions)
}
