/** Read models over random histories of the queue: they show what a naive fold shows, whatever the batches. */
import type { QueueEvent } from '@daybook/core'
import { Group } from '@daybook/adapters/read-models'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Shadow, type ShadowTask } from '../support/states/index.js'
import { scenarios } from '../properties/steps.js'
import { World } from '../properties/world.js'
import { breakerSpansOf, decisionsOf, totalsOf } from './naive-folds.js'
import { dump, openViews, queue, recorded, rowsOf } from './views.js'

const histories = scenarios(80).map((scenario) => new World(() => ({})).run(scenario).log)
/** Each planted defect is found by one of the first fifteen. */
const runs = { numRuns: Number(process.env.HISTORIES ?? 0) > 0 ? Math.min(150, Number(process.env.HISTORIES)) : 100 }

const viewsOf = (log: ReadonlyArray<QueueEvent>) => {
  const views = openViews()
  views.current.take(queue, recorded(log))
  return views
}

interface TaskRow {
  readonly number: number
  readonly [column: string]: unknown
}

/** What a row must show of a task of the naive fold. */
const shownOf = (shadow: Shadow, task: ShadowTask, isGone: boolean) => {
  const { facts, lease } = task
  const isHeld = shadow.isHeld(task)
  return {
    number: facts.number,
    id: facts.task,
    type: facts.type,
    // A task that is gone was finished.
    status: isGone ? task.stage : shadow.statusOf(task),
    priority: facts.priority,
    phase: facts.phase ?? null,
    tenant: facts.tenant ?? null,
    deadline_at: facts.deadlineAt ?? null,
    enqueued_at: task.createdAt,
    claimed_by: lease?.agent ?? null,
    claimed_at: lease?.at ?? null,
    token: lease?.token ?? null,
    lease_expires_at: isHeld ? (lease?.expiresAt ?? null) : null,
    finished_at: task.finishedAt === 0 ? null : task.finishedAt,
    attempts: task.attempts,
    retries: task.retries,
    last_error: task.lastError ?? null,
    signature: task.signature ?? null,
    enqueued_revision: task.enqueuedRevision,
    last_revision: task.lastRevision,
  }
}

describe('EV-04, INV-20: read models over random histories', () => {
  test('tasks are as a naive fold of all events has them, and finished ones stay beyond the retention', () => {
    fc.assert(
      fc.property(histories, (log) => {
        const views = viewsOf(log)
        const shadow = Shadow.of(log)
        const expected = [...shadow.gone.map((task) => shownOf(shadow, task, true)), ...shadow.tasks.map((task) => shownOf(shadow, task, false))].sort((a, b) => a.number - b.number)
        const columns = Object.keys(expected[0] ?? { number: 0 }).join(', ')
        expect(rowsOf<TaskRow>(views, `SELECT ${columns} FROM tasks ORDER BY number`)).toEqual(expected)
        views.close()
      }),
      runs,
    )
  })

  test('the same rows, whatever the batches, and wherever the process starts again', () => {
    fc.assert(
      fc.property(histories, fc.array(fc.nat(200), { maxLength: 8 }), (log, cuts) => {
        const whole = viewsOf(log)
        const cut = openViews()
        const events = recorded(log)
        const places = [0, ...new Set(cuts.filter((at) => at > 0 && at < log.length)), log.length].sort((a, b) => a - b)
        let group = cut.current
        places.slice(1).forEach((end, i) => {
          group.fold(queue, events.slice(places[i] ?? 0, end))
          // A batch has one page or two.
          if (i % 3 === 1) return
          group.write(queue)
          // As a new process has it: nothing in memory.
          if (i % 3 === 0) group = new Group(cut.db, cut.current.models, '')
        })
        group.write(queue)
        expect(dump(cut)).toEqual(dump(whole))
        whole.close()
        cut.close()
      }),
      runs,
    )
  })

  test('totals, timelines and reviews are those of naive folds; depth is what a count of the tasks says', () => {
    fc.assert(
      fc.property(histories, (log) => {
        const views = viewsOf(log)
        const columns = 'enqueued, imported, claimed, completed, incomplete, failed, expired, revoked, returned, released, parked, rate_limited AS rateLimited, called_back AS calledBack, timed_out AS timedOut, retried, dead_lettered AS deadLettered, requeued, discarded, cancelled, waits, runs, run_ms AS runMs'
        const counted = rowsOf<{ readonly type: string }>(views, `SELECT type, ${columns} FROM totals ORDER BY type`)
        expect(Object.fromEntries(counted.map(({ type, ...row }) => [type, row]))).toEqual(totalsOf(log))
        expect(rowsOf(views, 'SELECT type, revision, state, began_at, ended_at, cause, reason FROM breaker_spans ORDER BY revision, type')).toEqual(breakerSpansOf(log))
        const reviews = rowsOf(views, "SELECT revision, at, verdict, id AS task, reviewer, reason FROM reviews JOIN tasks ON key = task_key WHERE verdict IN ('retried', 'discarded') ORDER BY revision")
        expect(reviews).toEqual(decisionsOf(log))

        const levels = (from: string, more = '') =>
          rowsOf(views, `SELECT type, tenant, band, phase, pending, scheduled, waiting, blocked, in_progress, dead_letter FROM ${from} WHERE pending + scheduled + waiting + blocked + in_progress + dead_letter > 0 ${more} ORDER BY 1, 2, 3, 4`)
        const counts = levels(`(SELECT type, ifnull(tenant, '') AS tenant, band, ifnull(phase, '') AS phase, sum(status = 'pending') AS pending, sum(status = 'scheduled') AS scheduled, sum(status = 'waiting') AS waiting,
          sum(status = 'blocked') AS blocked, sum(status IN ('in-progress', 'incomplete')) AS in_progress, sum(status = 'dead-letter') AS dead_letter FROM tasks GROUP BY 1, 2, 3, 4)`)
        expect(levels('depth')).toEqual(counts)
        expect(levels('depth_by_minute AS d', 'AND minute = (SELECT max(minute) FROM depth_by_minute AS later WHERE later.type = d.type AND later.tenant = d.tenant AND later.band = d.band AND later.phase = d.phase)')).toEqual(counts)
        views.close()
      }),
      runs,
    )
  })

  test('every claim is an attempt, and those that have not ended are those of held tasks; agents hold what they hold', () => {
    fc.assert(
      fc.property(histories, (log) => {
        const views = viewsOf(log)
        expect(rowsOf(views, 'SELECT count(*) AS n FROM attempts')).toEqual([{ n: log.filter(({ type }) => type === 'Claimed').length }])
        const held = "SELECT key, token FROM tasks WHERE status IN ('in-progress', 'incomplete') ORDER BY key"
        expect(rowsOf(views, 'SELECT task_key AS key, token FROM attempts WHERE ended_at IS NULL ORDER BY task_key')).toEqual(rowsOf(views, held))
        expect(rowsOf(views, 'SELECT agent, holds FROM agents WHERE holds <> 0 ORDER BY agent')).toEqual(
          rowsOf(views, `SELECT claimed_by AS agent, count(*) AS holds FROM tasks WHERE key IN (SELECT key FROM (${held})) GROUP BY claimed_by ORDER BY claimed_by`),
        )
        expect(rowsOf(views, "SELECT count(*) AS n FROM dead_letters WHERE verdict IS NULL")).toEqual(rowsOf(views, "SELECT count(*) AS n FROM tasks WHERE status = 'dead-letter'"))
        views.close()
      }),
      runs,
    )
  })
})
