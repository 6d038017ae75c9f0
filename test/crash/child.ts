/** A process that works on a queue until it is killed (`child.mjs`), and its output. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { ClaimedTask, PreparedTask } from '@daybook/core'
import { holds, type LogEntry, type Exchange } from '../support/audit.js'
import { bundled } from '../support/bundled.js'
import { sleep } from '../support/queue.js'

export interface Line {
  readonly loaded?: true
  readonly ready?: { readonly revision: number; readonly snapshotRevision: number }
  readonly snapshot?: number
  readonly asked?: ReadonlyArray<PreparedTask>
  /** The token of the claim that the next command is about. */
  readonly about?: number
  readonly exchange?: Exchange
  readonly carried?: true
  readonly warning?: string
  readonly failed?: string
}

export interface Held {
  readonly task: string
  readonly token: number
  readonly agent: string
}

let script = (): string => {
  throw new Error('useChildren was not called')
}
/** To be called where tests are declared. */
export const useChildren = (): void => {
  script = bundled(new URL('./child.mjs', import.meta.url))
}

export class Child {
  readonly lines: Array<Line> = []
  readonly ended: Promise<void>
  private readonly process: ChildProcess
  private waiting: Array<() => void> = []

  constructor(args: ReadonlyArray<string>) {
    this.process = spawn(process.execPath, [script(), ...args], {
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.process.stdin?.on('error', () => undefined)
    const output = createInterface({ input: this.process.stdout! })
    output.on('line', (line) => {
      // The kill may cut the last line. A cut line does not count.
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

  /** Waits for this many lines of this kind. False if the process ended before that. */
  async said(what: keyof Line, times = 1, msMax = 120_000): Promise<boolean> {
    let looked = 0
    let count = 0
    const has = (): boolean => {
      for (; looked < this.lines.length; looked++) if (this.lines[looked]?.[what] !== undefined) count++
      return count >= times
    }
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

/** Acknowledged claims about which no command was sent later. Nobody else touches these tasks, so they must still be held. */
export const heldAfter = (exchanges: ReadonlyArray<Exchange>, lines: ReadonlyArray<Line>): ReadonlyArray<Held> => {
  const spokenOf = new Set(lines.flatMap((line) => line.about ?? []))
  return exchanges.flatMap(({ command, outcome }) =>
    command.type === 'Claim' && outcome._tag === 'Right'
      ? (outcome.right.value as ReadonlyArray<ClaimedTask>)
          .filter(({ token, timeout }) => timeout > 60 && !spokenOf.has(token))
          .map(({ task, token }) => ({ task, token, agent: command.agent }))
      : [],
  )
}

/** INV-16: a task's id contains the number of tasks that were enqueued with it. All of them must exist. */
export const enqueuesAreWhole = (log: ReadonlyArray<LogEntry>): void => {
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
