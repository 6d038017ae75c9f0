/**
 * Schedules: set, removed, and run when they are due (INV-27). Each due instant is decided once: its task is enqueued, or the event says why not. A
 * task's id is made from the schedule's name and the instant, so another server cannot enqueue it as well.
 */
import * as E from 'fp-ts/lib/Either.js'
import { isOver } from '../fold/schedules.js'
import { canonicalJson } from '../text/json-text.js'
import { dueAfter, lastDueBy, type Recurrence, whyNoRecurrence } from '../state/recurrence.js'
import { isolated, refusalOfPlanned } from '../model/isolation.js'
import { invalid, reject, type Rejection } from '../model/rejections.js'
import { KnownTasks } from '../state/retention.js'
import type { ScheduledTask } from '../model/task-fields.js'
import { type Schedule, scheduledTextMax, scheduledTextsMax, schedulesMax } from '../state/schedules.js'
import type { SkipReason } from '../model/schedule.js'
import type { Tables } from '../state/tables.js'
import type { Decider, Decision } from './decision.js'
import type { Draft } from './draft.js'
import { factsOf } from './enqueue.js'
import { canonicalTask, preparedFrom } from './planned-content.js'

/** A run that is later than this many milliseconds counts as missed. */
export const lateAfterMs = 60_000
/** The largest number of runs that one tick decides. The rest is due again at once. */
const runsPerTick = 100

// ------------------------------------------------------------------------------------- set and remove

export const decideCreateSchedule: Decider<'CreateSchedule'> = (command, tables, { at }) => {
  const { name, cron, every, timeZone = 'UTC', missed = 'once', overlap = 'allow', paused = false } = command
  const rule = ruleOf(cron, every, timeZone)
  const task = templateFrom(command.task)
  if (E.isLeft(rule)) return rule
  if (E.isLeft(task)) return task
  const known = tables.schedules.get(name)
  const wanted = { name, rule: rule.right, missed, overlap, paused, task: task.right }
  if (known !== undefined) {
    // A repetition of the same request.
    if (definitionText(known) === definitionText(wanted)) return E.right([])
    return E.left(reject('conflict', `queue ${tables.queue} has a schedule ${name} already: change that one (PATCH), remove it first, or use another name`))
  }
  if (tables.schedules.size >= schedulesMax) return E.left(reject('conflict', `queue ${tables.queue} has ${schedulesMax} schedules, which is the limit: remove some`))
  return setWith(tables, at, wanted, dueAfter(rule.right, at))
}

export const decideChangeSchedule: Decider<'ChangeSchedule'> = (command, tables, { at }) => {
  const { name, cron, every, timeZone, missed, overlap, paused } = command
  const known = tables.schedules.get(name)
  if (known === undefined) return E.left(noSchedule(tables, name))
  const before = known.rule
  const isNewRule = cron !== undefined || every !== undefined
  const rule = isNewRule
    ? ruleOf(cron, every, timeZone ?? before.timeZone)
    : ruleOf('cron' in before ? before.cron : undefined, 'every' in before ? before.every : undefined, timeZone ?? before.timeZone)
  const task = command.task === undefined ? E.right(known.task) : templateFrom(command.task)
  if (E.isLeft(rule)) return rule
  if (E.isLeft(task)) return task
  const wanted = { name, rule: rule.right, missed: missed ?? known.missed, overlap: overlap ?? known.overlap, paused: paused ?? known.paused, task: task.right }
  if (definitionText(known) === definitionText(wanted)) return E.right([])
  return setWith(tables, at, wanted, nextOf(known, wanted, at))
}

export const decideRemoveSchedule: Decider<'RemoveSchedule'> = ({ name }, tables, { at }) =>
  tables.schedules.get(name) === undefined ? E.left(noSchedule(tables, name)) : E.right([{ type: 'ScheduleRemoved', at, data: { name } }])

const templateFrom = (task: ScheduledTask): E.Either<Rejection, ScheduledTask> =>
  canonicalTask(task, 'task', scheduledTextMax, `the schedule's task is over ${scheduledTextMax} characters of JSON: keep large inputs elsewhere, and refer to them`)

const noSchedule = ({ queue }: Pick<Tables, 'queue'>, name: string): Rejection => reject('not-found', `queue ${queue} has no schedule ${name}`)

type Definition = Pick<Schedule, 'name' | 'rule' | 'missed' | 'overlap' | 'paused' | 'task'>

/** The task is printed by itself, because it may have the full depth that JSON may have here. */
const definitionText = ({ rule, missed, overlap, paused, task }: Definition): string => canonicalJson({ rule, missed, overlap, paused }) + canonicalJson(task)

/** A changed schedule keeps its next run, unless its rule is new. Runs that came due while it was paused are not made up for. */
const nextOf = (known: Schedule, wanted: Definition, at: number): number | undefined => {
  if (known.nextAt === null || JSON.stringify(known.rule) !== JSON.stringify(wanted.rule)) return dueAfter(wanted.rule, at)
  if (!known.paused || wanted.paused || known.nextAt > at) return known.nextAt
  return dueAfter(wanted.rule, lastDueBy(wanted.rule, known.nextAt, at))
}

const setWith = (tables: Tables, at: number, wanted: Definition, nextAt: number | undefined): Decision => {
  const { rule, task: template, ...definition } = wanted
  const refused = refusalOfPlanned(template, tables, 'task.')
  if (refused !== undefined) return E.left(refused)
  const size = JSON.stringify(wanted.task).length
  const others = tables.schedules.textSize - (tables.schedules.get(wanted.name)?.size ?? 0)
  if (others + size > scheduledTextsMax) return E.left(reject('too-large', `the tasks of all schedules of queue ${tables.queue} are over ${scheduledTextsMax} characters of JSON together: keep large inputs elsewhere, and refer to them`))
  return E.right([{ type: 'ScheduleSet', at, data: { ...definition, ...rule, template, ...(nextAt === undefined ? {} : { nextAt }) } }])
}

const ruleOf = (cron: string | undefined, every: number | undefined, timeZone: string): E.Either<Rejection, Recurrence> => {
  if (cron !== undefined && every !== undefined) return E.left(invalid([{ path: 'every', message: 'give either cron or every' }]))
  if (cron === undefined && every === undefined) return E.left(invalid([{ path: 'cron', message: 'is required, or every' }]))
  const rule = cron === undefined ? { every: every as number, timeZone } : { cron, timeZone }
  const why = whyNoRecurrence(rule)
  return why === undefined ? E.right(rule) : E.left(invalid([why]))
}

// ------------------------------------------------------------------------------------------- run

/** Decides all instants that are due, at most {@link runsPerTick}. `keys`: the idempotency keys that tasks take with this tick. */
export const runSchedules = (draft: Draft, keys: Set<string>): void => {
  const { tables, at } = draft
  if ((tables.schedules.nextDue() ?? Number.POSITIVE_INFINITY) > at) return
  const known = new KnownTasks(tables, at)
  let left = runsPerTick
  for (const schedule of tables.schedules.due) {
    const run = new Run(schedule, draft, known, keys)
    left = run.decide(left)
    if (left === 0 || !run.wasDue) return
  }
}

/** One schedule in one tick. It takes account of what it has decided so far, which is not folded yet. */
class Run {
  private nextAt: number | undefined
  private lastTask: string | undefined
  private isHeld: boolean
  private hasBegun = false
  wasDue = false

  constructor(
    private readonly schedule: Schedule,
    private readonly draft: Draft,
    private readonly known: KnownTasks,
    private readonly keys: Set<string>,
  ) {
    this.nextAt = schedule.nextAt ?? undefined
    this.lastTask = schedule.lastTask ?? undefined
    this.isHeld = schedule.held !== null
  }

  /** Decides up to `left` instants. Returns how many more may be decided in this tick. */
  decide(left: number): number {
    const { rule, missed, held } = this.schedule
    const { at } = this.draft
    if (held?.after === null) {
      this.wasDue = true
      this.isHeld = false
      this.begin(held.dueAt)
      left--
    }
    while (this.nextAt !== undefined && this.nextAt <= at && left > 0) {
      this.wasDue = true
      const due = this.nextAt
      const last = missed === 'all' ? due : lastDueBy(rule, due, at)
      const isRun = missed !== 'skip' || at - last <= lateAfterMs
      if (last > due && isRun) this.skip('missed', lastDueBy(rule, due, last - 1), last, due)
      else if (!isRun) this.skip('missed', last, dueAfter(rule, last), due)
      if (isRun) {
        this.nextAt = dueAfter(rule, last)
        this.beginOrNot(last)
      }
      left--
    }
    return left
  }

  private beginOrNot(dueAt: number): void {
    const { overlap } = this.schedule
    const overlaps = overlap !== 'allow' && (this.hasBegun || (this.lastTask !== undefined && !isOver(this.draft.tables, this.lastTask)))
    // A waiting run comes before this one.
    if (overlap === 'queue' && !this.isHeld && overlaps) {
      this.isHeld = true
      return this.draft.emit({ type: 'ScheduleHeld', at: this.draft.at, data: { ...this.due(dueAt), ...this.next() } })
    }
    if (overlaps || (overlap === 'queue' && this.isHeld)) this.skipAllDue(dueAt)
    else this.begin(dueAt)
  }

  /** Skips what is due from `dueAt` on: the task of the run before does not end within this tick, so all of it overlaps. */
  private skipAllDue(dueAt: number): void {
    const { rule } = this.schedule
    const last = lastDueBy(rule, dueAt, this.draft.at)
    this.skip('overlap', last, dueAfter(rule, last), dueAt)
  }

  private begin(dueAt: number): void {
    const { draft, known, schedule, keys } = this
    const id = runId(schedule.name, dueAt)
    const prepared = isolated(preparedFrom(schedule.task, id, id), draft.tables)
    const { idempotencyKey: key } = prepared
    // In an isolated queue, the schedules `nightly` of tenant `acme` and `acme:nightly` have the same keys.
    if (keys.has(key) || known.byId(id) !== undefined || known.byKey(key) !== undefined) return this.skip('duplicate', dueAt, this.nextAt)
    keys.add(key)
    this.hasBegun = true
    this.lastTask = id
    draft.emit({ type: 'ScheduleRan', at: draft.at, data: { ...this.due(dueAt), task: id, ...this.next() } })
    draft.emit({ type: 'TaskEnqueued', at: draft.at, data: factsOf(prepared, key, draft.takeNumber(), draft.tables), content: prepared.content })
  }

  /** Skips `dueAt`. With `since`: also all instants from that one on. */
  private skip(why: SkipReason, dueAt: number, nextAt: number | undefined, since = dueAt): void {
    this.nextAt = nextAt
    const data = { ...this.due(dueAt), why, ...(since < dueAt ? { since } : {}), ...this.next() }
    this.draft.emit({ type: 'ScheduleSkipped', at: this.draft.at, data })
  }

  private due(dueAt: number): { readonly name: string; readonly dueAt: number } {
    return { name: this.schedule.name, dueAt }
  }

  private next(): { readonly nextAt?: number } {
    return this.nextAt === undefined ? {} : { nextAt: this.nextAt }
  }
}

/** The id and the idempotency key of a run's task: `nightly@2026-01-05T02:00:00.000Z`. */
const runId = (name: string, dueAt: number): string => `${name}@${new Date(dueAt).toISOString()}`
