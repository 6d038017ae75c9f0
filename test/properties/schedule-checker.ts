/**
 * INV-27: each instant of a schedule is decided once, in order, by the schedule's rules, and a run has exactly one task. The schedules of random
 * histories are due at multiples of a step, so their instants are computed without the library that parses cron.
 */
import type { DataOf, EventOf, QueueEvent } from '@daybook/core'
import { same } from './look.js'
import { type Checker, holds, type World } from './world.js'

/** The largest number of runs that one tick decides. */
const perTick = 100
const lateMs = 60_000

interface Grid {
  readonly base: number
  readonly step: number
}
const crons: Readonly<Record<string, Grid>> = {
  '*/5 * * * *': { base: 0, step: 300_000 },
  '*/20 * * * * *': { base: 0, step: 20_000 },
  '0 3 * * *': { base: 3 * 3_600_000, step: 86_400_000 },
}
const firstAfter = ({ base, step }: Grid, at: number): number => base + (Math.floor((at - base) / step) + 1) * step

type Came = EventOf<'ScheduleRan'> | EventOf<'ScheduleSkipped'> | EventOf<'ScheduleHeld'>
const isCame = (event: QueueEvent): event is Came => event.type === 'ScheduleRan' || event.type === 'ScheduleSkipped' || event.type === 'ScheduleHeld'

export const scheduleRuns = (): Checker => {
  /** By name: the rule, and the instants that it has. */
  const rules = new Map<string, { readonly rule: string; readonly grid: Grid }>()
  const ruleOf = ({ cron, every }: DataOf<'ScheduleSet'>): string => cron ?? String(every)
  const ran = new Set<string>()
  let ticked = 0
  /** Schedules whose held run may start when the tick begins. */
  let free: ReadonlySet<string> = new Set()
  /** The type of the command that is decided. */
  let asked = ''

  /** An interval is counted from when it was set. */
  const gridOf = ({ at, data }: EventOf<'ScheduleSet'>): Grid => {
    const known = rules.get(data.name)
    if (known?.rule === ruleOf(data)) return known.grid
    return data.cron === undefined ? { base: at, step: (data.every as number) * 1_000 } : (crons[data.cron] as Grid)
  }

  const checkSet = ({ shadow }: World, event: EventOf<'ScheduleSet'>): void => {
    const { at, data } = event
    const known = shadow.schedules.get(data.name)
    const grid = gridOf(event)
    const isResumed = known?.set.paused === true && !data.paused
    const isKept = known !== undefined && ruleOf(known.set) === ruleOf(data) && !(isResumed && (known.nextAt ?? 0) <= at)
    same(data.nextAt, isKept ? known.nextAt : firstAfter(grid, at), `when ${data.name} is due next`)
  }

  const checkCame = ({ shadow }: World, event: Came, decided: ReadonlyArray<QueueEvent>, index: number): void => {
    const { name, dueAt, nextAt } = event.data
    const what = `${event.type} of ${name} at ${dueAt}`
    const schedule = shadow.schedules.get(name)
    const grid = rules.get(name)?.grid
    if (schedule === undefined || grid === undefined) throw new Error(`${what}, which is not there`)
    const { set, held, lastTask } = schedule
    const at = event.at
    holds(!set.paused, `${what}, which is paused`)
    holds(dueAt <= at, `${what}, which is not due yet`)
    const isOver = lastTask === undefined || shadow.isOver(lastTask)
    if (event.type === 'ScheduleRan') {
      same(event.data.task, `${name}@${new Date(dueAt).toISOString()}`, 'the id of its task')
      holds(!ran.has(event.data.task), `${what}, a second time`)
      const next = decided[index + 1]
      holds(next?.type === 'TaskEnqueued' && next.data.task === event.data.task && next.data.type === set.template.type, `${what}, without its task`)
      if (held?.dueAt === dueAt) {
        holds(held.after === undefined, `${what}, while ${held.after} is unfinished`)
        return same(nextAt, schedule.nextAt, 'when it is due next')
      }
    }
    // In order, and without gaps.
    const since = event.type === 'ScheduleSkipped' ? (event.data.since ?? dueAt) : dueAt
    same(since, schedule.nextAt, `${what}: the first instant that was not decided`)
    same(firstAfter(grid, dueAt - 1), dueAt, `${what}: an instant of its rule`)
    same(nextAt, dueAt + grid.step, `${what}: when it is due next`)
    const isMissed = set.missed !== 'all' && (dueAt + grid.step <= at || (set.missed === 'skip' && at - dueAt > lateMs))
    const why = event.type === 'ScheduleSkipped' ? event.data.why : undefined
    holds((why === 'missed') === isMissed, `${what}: ${isMissed ? 'it was missed' : 'it was not missed'}`)
    if (isMissed) return
    // What overlaps is skipped as one, with all that is due by now.
    if (why === 'overlap') holds(dueAt + grid.step > at, `${what}: ${dueAt + grid.step} is due, too, and overlaps as well`)
    else holds(since === dueAt, `${what}: others are skipped with it`)
    if (why === 'duplicate') return holds(shadow.task(`${name}@${new Date(dueAt).toISOString()}`) !== undefined, `${what}: there is no such task`)
    const wanted = set.overlap === 'allow' || (isOver && held === undefined) || (set.overlap === 'skip' && isOver) ? 'ScheduleRan' : set.overlap === 'queue' && held === undefined ? 'ScheduleHeld' : 'ScheduleSkipped'
    same(event.type, wanted, what)
  }

  return {
    command: ({ shadow }, command, __, { at }) => {
      if (command.type === 'Tick') {
        ticked = at
        free = new Set([...shadow.schedules].flatMap(([name, { held }]) => (held !== undefined && held.after === undefined ? [name] : [])))
      }
      asked = command.type
    },
    event: (world, event, decided, index) => {
      if (event.type === 'ScheduleSet') checkSet(world, event)
      else if (isCame(event)) checkCame(world, event, decided, index)
      // A request may use the id of a run again.
      else if (event.type === 'TaskEnqueued' && event.data.task.includes('@') && asked === 'Tick') {
        const before = decided[index - 1]
        holds(before?.type === 'ScheduleRan' && before.data.task === event.data.task, `${event.data.task} without a run`)
      }
    },
    note: (event) => {
      if (event.type === 'ScheduleSet') rules.set(event.data.name, { rule: ruleOf(event.data), grid: gridOf(event) })
      if (event.type === 'ScheduleRemoved') rules.delete(event.data.name)
      if (event.type === 'QueueDeleted') rules.clear()
      if (event.type === 'ScheduleRan') ran.add(event.data.task)
    },
    step: ({ shadow }, command, decided) => {
      if (command?.type !== 'Tick' || decided.filter(isCame).length >= perTick) return
      for (const [name, due] of shadow.schedules.dueByName()) {
        // The tick itself may have ended what a held run waited for. The next tick starts it.
        const isReleased = !free.has(name) && due === shadow.schedules.get(name)?.held?.dueAt
        holds(due > ticked || isReleased, `a tick at ${ticked} left what was due at ${due}`)
      }
    },
  }
}
