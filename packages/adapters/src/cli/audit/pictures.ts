/** What `audit state` and `audit diff` draw: how many tasks are in each state, and how many changed from one to another. */
import type { Difference, QueueMoment } from '../../client/index.js'
import { type Bar, barChart } from '../drawing/bar-chart.js'
import type { Canvas } from '../drawing/canvas.js'

/** Empty if there are no tasks. */
export const countsPicture = (canvas: Canvas, { counts: { byStatus } }: Pick<QueueMoment, 'counts'>): ReadonlyArray<string> => {
  const there = Object.entries(byStatus).filter(([, count]) => count > 0)
  return there.length === 0 ? [] : barChart(canvas, { title: 'tasks by status', bars: there.map(([name, value]): Bar => ({ name, value, says: value.toLocaleString('en-US') })) })
}

/** Of the tasks that are listed: `pending → completed`. Empty if no status changed. */
export const changesPicture = (canvas: Canvas, { tasks, nextCursor }: Pick<Difference, 'tasks' | 'nextCursor'>): ReadonlyArray<string> => {
  const changes = new Map<string, number>()
  const arrow = canvas.glyphs.hasBraille ? '→' : '->'
  for (const { before, after } of tasks) {
    const change = `${before?.status ?? 'new'} ${arrow} ${after?.status ?? 'gone'}`
    if (before?.status !== after?.status) changes.set(change, (changes.get(change) ?? 0) + 1)
  }
  const bars = [...changes].sort(([, a], [, b]) => b - a).map(([name, value]): Bar => ({ name, value, says: String(value) }))
  return bars.length === 0 ? [] : barChart(canvas, { title: nextCursor === null ? 'changes of status' : 'changes of status, of the tasks below', bars })
}
