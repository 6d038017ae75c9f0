/** What `daybook work` prints: lines for people on stderr, or lines of JSON on stdout; and a summary at the end. */
import { plural } from '@daybook/core/common'
import { errorText } from '../error-text.js'
import type { TaskWorker, WorkerEvent, WorkTask } from '../worker/index.js'
import type { Session } from './cli.js'
import { exitCodes } from './exit-codes.js'
import { clean } from './text.js'
import { isOutage } from './outage.js'
import type { OutageTeller } from './watch-source.js'

/** A task whose program was started and whose outcome is not accepted or refused yet. */
interface Started {
  readonly task: WorkTask
  readonly startedAt: number
  tookMs?: number
  error?: string
}

/** The texts for a failed attempt, by the task's new status. */
const afterFailure: Readonly<Record<string, string>> = {
  pending: 'to be tried again',
  queued: 'to be tried again',
  scheduled: 'to be tried again',
  'dead-letter': 'now a dead letter',
}

export class WorkReport implements OutageTeller {
  private readonly started = new Map<string, Started>()
  private incomplete = 0
  private refused = 0

  constructor(
    private readonly session: Pick<Session, 'printer' | 'io'>,
    private readonly isQuiet: boolean,
  ) {}

  begin(task: WorkTask): void {
    this.started.set(task.id, { task, startedAt: performance.now() })
  }

  /** Called when the program has ended. The queue decides whether the outcome is accepted. */
  end(task: WorkTask, error?: unknown): void {
    const started = this.started.get(task.id)
    if (started === undefined) return
    started.tookMs = performance.now() - started.startedAt
    if (error !== undefined) started.error ??= errorText(error)
  }

  // An outage is reported even with --quiet. Otherwise a worker that waits for the server would look idle.

  readonly down = (why: string): void => {
    const { printer, io } = this.session
    if (printer.isJson) io.out(`${JSON.stringify({ event: 'waiting', error: why })}\n`)
    else io.err(`${printer.errColors.yellow('waiting')} the server cannot be asked, trying again until it can: ${clean(why, 200)}\n`)
  }

  readonly up = (): void => {
    const { printer, io } = this.session
    if (printer.isJson) io.out(`${JSON.stringify({ event: 'back' })}\n`)
    else io.err(`${printer.errColors.green('back')}    the server answers again\n`)
  }

  stderr(id: string, text: string): void {
    const { printer, io } = this.session
    if (this.isQuiet || printer.isJson) return
    for (const line of text.split('\n')) if (line.trim() !== '') io.err(`${printer.errColors.dim(`${clean(id, 60)}:`)} ${clean(line, 500)}\n`)
  }

  readonly event = (event: WorkerEvent): void => {
    const { errColors: colors, isJson } = this.session.printer
    switch (event.type) {
      case 'outcome-accepted':
        return this.accepted(event)
      case 'incomplete':
        this.incomplete++
        return this.line(
          `${colors.red('incomplete')}  ${clean(event.taskId, 60)}: the program printed no decisionReport, which this queue requires.\n` +
            '  Print {"output":…,"decisionReport":…}, or: daybook settings set decisionReport=optional',
          { event: 'incomplete', task: event.taskId },
        )
      case 'run-time-exceeded': {
        const error = `it ran longer than ${event.maxRunSeconds} s (--max-run) and was ended`
        this.explain(event.taskId, error)
        return this.line(`${colors.yellow('ending')}  ${clean(event.taskId, 60)}: ${error}`, { event: event.type, task: event.taskId, maxRunSeconds: event.maxRunSeconds })
      }
      case 'lease-lost':
        this.started.delete(event.taskId)
        return this.line(`${colors.yellow('lost')}    ${clean(event.taskId, 60)}: ${clean(event.detail, 200)}`, { event: 'lease-lost', task: event.taskId, detail: event.detail })
      case 'outcome-refused':
        this.refused++
        this.explain(event.taskId, `the result was refused (${event.code}): ${event.detail}`)
        return this.line(`${colors.red('refused')} ${clean(event.taskId, 60)}: ${clean(event.detail, 200)}`, { event: 'refused', task: event.taskId, code: event.code, detail: event.detail })
      case 'outcome-given-up':
      case 'abandoned':
        this.refused++
        this.started.delete(event.taskId)
        return this.line(`${colors.red(event.type)} ${clean(event.taskId, 60)}: the task comes back when its lease ends`, { event: event.type, task: event.taskId })
      case 'found-nothing': {
        const { message, change } = event.reason
        return this.line(`${colors.yellow('waiting')} ${clean(message, 200)} ${colors.dim(`(what would change it: ${clean(change, 200)})`)}`, { event: event.type, reason: event.reason })
      }
      case 'registration-refused':
      case 'claim-failed':
      case 'settle-failed':
      case 'heartbeat-failed': {
        // `down` has already reported it to people.
        if (!isJson && isOutage(event.error)) return
        const message = errorText(event.error)
        return this.line(`${colors.yellow('waiting')} ${clean(message, 200)}`, { event: event.type, error: message })
      }
    }
  }

  /** Prints the summary, and returns the exit code. */
  summary(worker: TaskWorker): number {
    const { printer, io } = this.session
    const { incomplete } = this
    const { completed, failed, released, parked, lost } = worker.stats()
    // A completion without a decision report was accepted, but has completed nothing.
    const done = Math.max(0, completed - incomplete)
    const rest = [
      failed > 0 ? plural(failed, 'attempt') + ' failed' : '',
      incomplete > 0 ? `${incomplete} incomplete` : '',
      released > 0 ? `${released} given back` : '',
      parked > 0 ? `${parked} parked` : '',
      lost > 0 ? `${lost} lost` : '',
    ].filter((part) => part !== '')
    if (printer.isJson) io.out(`${JSON.stringify({ event: 'end', agent: worker.agentId, completed: done, failed, incomplete, released, parked, lost })}\n`)
    else io.err(`${plural(done, 'task')} completed${rest.length === 0 ? '' : `, ${rest.join(', ')}`}\n`)
    return incomplete > 0 || this.refused > 0 ? exitCodes.refused : exitCodes.done
  }

  /** Notes why an attempt is about to fail. */
  private explain(taskId: string, error: string): void {
    const started = this.started.get(taskId)
    if (started !== undefined) started.error = error
  }

  private accepted({ taskId, kind, status }: Extract<WorkerEvent, { type: 'outcome-accepted' }>): void {
    const { errColors: colors } = this.session.printer
    const started = this.started.get(taskId)
    this.started.delete(taskId)
    if (status === 'incomplete') return
    const { task, tookMs, error = 'no reason was given' } = started ?? {}
    const about = [task === undefined ? '' : clean(task.type, 40), tookMs === undefined ? '' : `${(tookMs / 1_000).toFixed(1)} s`].filter((part) => part !== '').join(', ')
    const json = { task: taskId, type: task?.type, ms: tookMs === undefined ? undefined : Math.round(tookMs), status }
    const who = `${clean(taskId, 60)} ${colors.dim(about)}`
    switch (kind) {
      case 'complete':
        return this.line(`${colors.green('done')}    ${who}`, { event: 'done', ...json })
      case 'fail':
        return this.line(`${colors.red('failed')}  ${who}: ${clean(error, 200)} ${colors.dim(`(${afterFailure[status] ?? status})`)}`, { event: 'failed', ...json, error })
      case 'release':
        return this.line(`${colors.yellow('given back')} ${who}`, { event: 'given-back', ...json })
      case 'park':
        return this.line(`${colors.yellow('parked')}  ${who} ${colors.dim('(until its callback comes)')}`, { event: 'parked', ...json })
    }
  }

  private line(people: string, json: object): void {
    const { printer, io } = this.session
    if (this.isQuiet) return
    if (printer.isJson) io.out(`${JSON.stringify(json)}\n`)
    else io.err(`${people}\n`)
  }
}
