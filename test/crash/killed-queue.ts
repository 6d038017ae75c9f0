/** A database file whose process is killed again and again, and what must hold of it in between. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { openSnapshotFolder } from '@daybook/adapters/files'
import { replay } from '@daybook/adapters/engine'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { Claimed, PreparedTask } from '@daybook/core'
import { answersMatchLog, holds, leasesAreUnique, nothingIsLost, readLog, type LogEntry, type Told } from '../support/audit.js'
import { foldAll, logOf, sleep, textOf } from '../support/queue.js'
import { below, randomOf } from '../support/random.js'

/** When the kill comes: so long after it was told to open the file, was ready, or began a snapshot. */
export interface Moment {
  readonly after: 'go' | 'ready' | 'snapshot'
  readonly msMax: number
  readonly msMin?: number
}

interface Line {
  readonly loaded?: true
  readonly ready?: { readonly revision: number; readonly snapshotRevision: number }
  readonly snapshot?: number
  readonly asked?: ReadonlyArray<PreparedTask>
  /** Something is about to be said of the claim with this token. */
  readonly about?: number
  readonly told?: Told
  readonly carried?: true
  readonly warning?: string
  readonly failed?: string
}

class Child {
  readonly lines: Array<Line> = []
  readonly ended: Promise<void>
  private readonly process: ChildProcess
  private waiting: Array<() => void> = []

  constructor(args: ReadonlyArray<string>) {
    this.process = spawn(process.execPath, [fileURLToPath(new URL('./child.mjs', import.meta.url)), ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.process.stdin?.on('error', () => undefined)
    const output = createInterface({ input: this.process.stdout! })
    output.on('line', (line) => {
      // The last one may be cut short by the kill: then it was not told.
      try {
        this.lines.push(JSON.parse(line) as Line)
      } catch {
        return
      }
      this.waiting.forEach((wake) => wake())
    })
    this.ended = new Promise((resolve) => output.once('close', resolve)).then(() => this.waiting.forEach((wake) => wake()))
  }

  go(message: unknown): void {
    this.process.stdin?.write(`${JSON.stringify(message)}\n`)
  }

  /** False when it ended before. */
  async said(what: keyof Line, msMax = 20_000): Promise<boolean> {
    const has = (): boolean => this.lines.some((line) => line[what] !== undefined)
    const end = Date.now() + msMax
    let over = false
    void this.ended.then(() => (over = true))
    while (!has() && !over && Date.now() < end) {
      await Promise.race([new Promise<void>((resolve) => this.waiting.push(resolve)), sleep(msMax)])
      this.waiting = []
    }
    return has()
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL')
    await this.ended
  }
}

export class KilledQueue {
  readonly told: Array<Told> = []
  kills = 0
  /** Starts that came as far as being ready, and those of them that began with a snapshot. */
  starts = 0
  fromSnapshot = 0
  /** Leases that were held before a kill and were good after it; enqueues that were asked again. */
  carried = 0
  retried = 0
  readonly warnings: Array<string> = []
  private next: Child | undefined
  private runs = 0
  private unanswered: ReadonlyArray<ReadonlyArray<PreparedTask>> = []
  private held: ReadonlyArray<{ task: string; token: number; agent: string }> = []
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

  /** Modules are loaded before it is its turn, which is half of a start. */
  private prepare(): Child {
    const args = [this.folder, `r${++this.runs}`, String(below(this.random, 2 ** 31))]
    return new Child(this.defect === undefined ? args : [...args, this.defect])
  }

  async runAndKill({ after, msMax, msMin = 0 }: Moment): Promise<void> {
    const child = this.next ?? this.prepare()
    this.retried += this.unanswered.length
    this.next = this.prepare()
    await child.said('loaded')
    child.go({ retry: this.unanswered, carry: this.held })
    if (after !== 'go') holds(await child.said(after), () => `run ${this.runs}: not ${after}: ${JSON.stringify(child.lines.slice(-3))}`)
    await sleep(msMin + this.random() * (msMax - msMin))
    await child.kill()
    this.kills++
    this.note(child.lines)
  }

  private note(lines: ReadonlyArray<Line>): void {
    const told = lines.flatMap((line) => line.told ?? [])
    const carried = new Set(this.held.map(({ task }) => task))
    for (const { command, outcome } of told) {
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
    this.told.push(...told)
    const answered = new Set(told.flatMap(({ command }) => (command.type === 'Enqueue' ? command.tasks.map(({ id }) => id) : [])))
    const open = [...this.unanswered, ...lines.flatMap((line) => (line.asked === undefined ? [] : [line.asked]))]
    const once = new Map(open.map((tasks) => [tasks[0]!.id, tasks]))
    this.unanswered = [...once.values()].filter((tasks) => !answered.has(tasks[0]!.id))
    this.held = heldAfter(told, lines)
  }

  /** What was acknowledged is in the log, once; the log folds; a snapshot and the rest of the log are the whole. */
  async check(): Promise<ReadonlyArray<LogEntry>> {
    const store = await openSqliteStore({ file: join(this.folder, 'daybook.db') })
    try {
      const recorded = await logOf(store)
      const log = readLog(recorded)
      answersMatchLog(this.told, log)
      leasesAreUnique(log)
      nothingIsLost(log)
      enqueuesAreWhole(log)
      const skipped: Array<string> = []
      const report = { skipped: (name: string, reason: string) => void skipped.push(`${name}: ${reason}`), progress: () => undefined }
      const snapshots = await openSnapshotFolder(join(this.folder, 'snapshots'))
      const { state } = await replay(store, snapshots, 'q', report)
      holds(textOf(state) === textOf(foldAll(recorded)), 'INV-15: a snapshot and the rest of the log differ from the whole log')
      holds(skipped.length === 0, () => `a snapshot was not usable: ${skipped.join()}`)
      const files = await readdir(join(this.folder, 'snapshots'))
      holds(!files.some((name) => name.includes('unfinished')), () => `halves of snapshots are left lying about: ${files.join()}`)
      // Older ones are removed once a newer one is there: a kill just before that leaves one more, until the next.
      holds(files.length <= 12, () => `snapshots are left lying about: ${files.join()}`)
      return log
    } finally {
      await store.close()
    }
  }

  async end(): Promise<void> {
    await this.next?.kill()
    await rm(this.folder, { recursive: true, force: true })
  }
}

/** Claims that were told and never spoken of since: nobody else touches these tasks, so they must go on being held. */
const heldAfter = (told: ReadonlyArray<Told>, lines: ReadonlyArray<Line>): ReadonlyArray<{ task: string; token: number; agent: string }> => {
  const spokenOf = new Set(lines.flatMap((line) => line.about ?? []))
  return told.flatMap(({ command, outcome }) =>
    command.type === 'Claim' && outcome._tag === 'Right'
      ? (outcome.right.value as ReadonlyArray<Claimed>)
          .filter(({ token, timeout }) => timeout > 60 && !spokenOf.has(token))
          .map(({ task, token }) => ({ task, token, agent: command.agent }))
      : [],
  )
}

/** INV-16: a task's id says how many were enqueued with it. All of them are there. */
const enqueuesAreWhole = (log: ReadonlyArray<LogEntry>): void => {
  const seen = new Map<string, number>()
  for (const { event } of log) {
    if (event.type !== 'TaskEnqueued') continue
    const [stem, , count] = event.data.task.split('/')
    const key = `${stem}/${count}`
    seen.set(key, (seen.get(key) ?? 0) + 1)
  }
  for (const [key, count] of seen) {
    holds(String(count) === key.split('/')[1], () => `INV-16: of ${key} only ${count} are in the log`)
  }
}
