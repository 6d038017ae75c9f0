/** A database file whose process is killed again and again, with the checks in between. */
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSnapshotFolder, readSnapshotFolder } from '@daybook/adapters/files'
import { replay, streamOf } from '@daybook/adapters/engine'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { foldVersion, type PreparedTask } from '@daybook/core'
import { answersMatchLog, holds, leasesAreUnique, nothingIsLost, readLog, type LogEntry, type Exchange } from '../support/audit.js'
import { chainIsWhole } from '../support/chain.js'
import { Child, enqueuesAreWhole, type Held, heldAfter, type Line } from './child.js'
import { foldAll, logOf, sleep, textOf } from '../support/queue.js'
import { below, randomOf } from '../support/random.js'

/**
 * When the process is killed: after it was told to open the file, became ready, or began a snapshot. It then first gives this many answers, which is
 * the same work on a slow machine as on a fast one, and is killed at a random moment within `msMax`.
 */
export interface Moment {
  readonly after: 'go' | 'ready' | 'snapshot'
  /** For snapshots: after which one of the process. Default 1. */
  readonly times?: number
  readonly msMax: number
  readonly answersMin?: number
  readonly answersMax?: number
}

export class KilledQueue {
  readonly exchanges: Array<Exchange> = []
  kills = 0
  /** Number of starts that became ready, and of those that used a snapshot. */
  starts = 0
  fromSnapshot = 0
  /** Number of leases that were held before a kill and valid after it, and of enqueues that were sent again. */
  carried = 0
  retried = 0
  readonly warnings: Array<string> = []
  private next: Child | undefined
  private runs = 0
  private unanswered: ReadonlyArray<ReadonlyArray<PreparedTask>> = []
  private held: ReadonlyArray<Held> = []
  private readonly random

  private constructor(
    readonly folder: string,
    seed: number,
    private readonly defect: string | undefined,
  ) {
    this.random = randomOf(seed)
  }

  static async create(seed: number, defect?: 'early'): Promise<KilledQueue> {
    return new KilledQueue(await mkdtemp(join(tmpdir(), 'daybook-crash-')), seed, defect)
  }

  /** Starts the next process in advance, because loading its modules is half of a start. */
  private prepare(): Child {
    const args = ['sqlite', this.folder, `r${++this.runs}`, String(below(this.random, 2 ** 31))]
    return new Child(this.defect === undefined ? args : [...args, this.defect])
  }

  async runAndKill({ after, times = 1, msMax, answersMin = 0, answersMax = answersMin }: Moment): Promise<void> {
    const child = this.next ?? this.prepare()
    this.retried += this.unanswered.length
    this.next = this.prepare()
    await child.said('loaded')
    child.go({ retry: this.unanswered, carry: this.held })
    if (after !== 'go') holds(await child.said(after, times), () => `run ${this.runs}: not ${after}: ${JSON.stringify(child.lines.slice(-3))}`)
    const answers = answersMin + below(this.random, answersMax - answersMin + 1)
    if (answers > 0) holds(await child.said('exchange', answers), () => `run ${this.runs}: not ${answers} answers: ${JSON.stringify(child.lines.slice(-3))}`)
    await sleep(this.random() * msMax)
    await child.kill()
    this.kills++
    this.note(child.lines)
  }

  private note(lines: ReadonlyArray<Line>): void {
    const exchanges = lines.flatMap((line) => line.exchange ?? [])
    const carried = new Set(this.held.map(({ task }) => task))
    for (const { command, outcome } of exchanges) {
      if (command.type !== 'Complete' || !carried.has(command.task)) continue
      this.carried++
      holds(outcome._tag === 'Right', () => `INV-19: a lease was lost over the kill: ${JSON.stringify([command, outcome])}`)
    }
    for (const line of lines) {
      if (line.failed !== undefined) throw new Error(`a start failed: ${line.failed}`)
      if (line.warning !== undefined) this.warnings.push(line.warning)
      if (line.ready === undefined) continue
      this.starts++
      if (line.ready.snapshotRevision >= 0) this.fromSnapshot++
    }
    this.exchanges.push(...exchanges)
    const answered = new Set(exchanges.flatMap(({ command }) => (command.type === 'Enqueue' ? command.tasks.map(({ id }) => id) : [])))
    const open = [...this.unanswered, ...lines.flatMap((line) => (line.asked === undefined ? [] : [line.asked]))]
    const once = new Map(open.map((tasks) => [tasks[0]!.id, tasks]))
    this.unanswered = [...once.values()].filter((tasks) => !answered.has(tasks[0]!.id))
    this.held = heldAfter(exchanges, lines)
  }

  /** Everything acknowledged is in the log once, the log can be folded, and a snapshot plus the rest of the log gives the same state. */
  async check(): Promise<ReadonlyArray<LogEntry>> {
    const store = await openSqliteStore({ file: join(this.folder, 'daybook.db') })
    try {
      const recorded = await logOf(store)
      const log = readLog(recorded)
      answersMatchLog(this.exchanges, log)
      leasesAreUnique(log)
      nothingIsLost(log)
      enqueuesAreWhole(log)
      chainIsWhole(recorded)
      const skipped: Array<string> = []
      const report = { skipped: (name: string, reason: string) => void skipped.push(`${name}: ${reason}`), progress: () => undefined }
      const snapshots = await openSnapshotFolder(join(this.folder, 'snapshots'))
      const { state } = await replay(store, snapshots, 'q', report)
      holds(textOf(state) === textOf(foldAll(recorded)), 'INV-15: a snapshot and the rest of the log differ from the whole log')
      holds(skipped.length === 0, () => `a snapshot was not usable: ${skipped.join()}`)
      const files = await readdir(join(this.folder, 'snapshots'))
      holds(!files.some((name) => name.includes('unfinished')), () => `halves of snapshots are left lying about: ${files.join()}`)
      return log
    } finally {
      await store.close()
    }
  }

  /** Older snapshots are removed when a newer one was written, however many the kills had left. */
  async checkSnapshotsAreRemoved(): Promise<void> {
    // The second snapshot of a process begins when the first is whole and older ones are removed.
    await this.runAndKill({ after: 'snapshot', times: 2, msMax: 0 })
    const folder = join(this.folder, 'snapshots')
    const bases = (await readSnapshotFolder(folder).list(streamOf('q'), foldVersion, Number.MAX_SAFE_INTEGER)).usable.flatMap(({ header }) => header.base?.revision ?? [])
    // Increments need those on which they are based.
    const others = (await readdir(folder)).filter((name) => !bases.some((revision) => name.endsWith(`.${revision}.snapshot`)))
    // The children keep two, the newest with another base, and four older ones. The second one may be complete as well.
    holds(others.length <= 2 + 1 + 4 + 1, () => `snapshots were not removed: ${others.join()}`)
  }

  async end(): Promise<void> {
    await this.next?.kill()
    await rm(this.folder, { recursive: true, force: true })
  }
}
