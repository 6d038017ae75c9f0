/** The screen of `daybook top` as lines: computed from data alone, for any size. */
import { barOf, cellsOf, sparkOf } from '../drawing/bars.js'
import { fit, type Paint, rowsOn, type Style } from '../drawing/canvas.js'
import { didYouMean } from '../suggest/nearest.js'
import { type Cell, type Column, layoutOf, lineOf, type Row } from '../table.js'
import { clean, duration } from '../text.js'
import { barStatuses, countOf, depthOf, type Figures, type QueueDetail, type QueueFigures, type Rate } from './figures.js'
import { inOrder, selectedIndex, type TopState } from './state.js'
import type { Size } from './terminal.js'

export interface Screen {
  readonly url: string
  readonly everyMs: number
  readonly state: TopState
  readonly figures: Figures | undefined
  /** Why the last sample failed. The figures are then older. */
  readonly problem: string | undefined
}

const barWidth = 24
const paintsOf = ({ colors }: Style): ReadonlyArray<Paint> => [colors.yellow, colors.cyan, colors.dim, colors.magenta, colors.red]

/** Running, pending, later, blocked and dead tasks, as one bar. `most`: the depth of the deepest queue. */
const depthCell = (style: Style, queue: QueueFigures, most: number): Cell => {
  const cells = cellsOf(barStatuses.map(([, statuses]) => countOf(queue, statuses)), most, barWidth)
  const { fills } = style.glyphs
  const paints = paintsOf(style)
  return {
    text: cells.map((many, i) => (fills[i] as string).repeat(many)).join(''),
    // The text may have been cut, but each character tells its segment.
    paint: (text) => [...text].map((letter) => (paints[fills.indexOf(letter)] ?? String)(letter)).join(''),
  }
}

const rateText = ({ perMinute }: Rate): string => (perMinute === undefined ? '…' : perMinute >= 10 || perMinute === 0 ? String(Math.round(perMinute)) : perMinute.toFixed(1))
const courseWidth = 12
const courseOf = ({ glyphs }: Style, { course }: Rate): string => sparkOf(glyphs, course.slice(-courseWidth))

const columns: ReadonlyArray<Column> = [
  { head: '' },
  { head: 'QUEUE', min: 8 },
  { head: 'DEPTH', min: 6, leaveOut: 5 },
  { head: 'PENDING' },
  { head: 'RUNNING' },
  { head: 'DEAD', leaveOut: 2 },
  { head: 'IN/MIN', leaveOut: 3 },
  { head: '', leaveOut: 8 },
  { head: 'DONE/MIN', leaveOut: 4 },
  { head: '', leaveOut: 7 },
  { head: 'OLDEST', leaveOut: 1 },
  { head: 'AGENTS', leaveOut: 1 },
  { head: 'STATE', min: 6, leaveOut: 6 },
]

const stateCell = ({ colors }: Style, { paused, breakers }: QueueFigures): Cell => {
  if (paused !== null) return { text: 'paused', paint: colors.yellow }
  const open = breakers.filter(({ state }) => state === 'open').length
  if (breakers.length === 0) return ''
  return open === 0 ? { text: 'breaker half-open', paint: colors.yellow } : { text: `${open} open ${open === 1 ? 'breaker' : 'breakers'}`, paint: colors.red }
}

const queueRow = (style: Style, queue: QueueFigures, most: number, isSelected: boolean): Row => {
  const { colors, glyphs } = style
  const dead = countOf(queue, ['dead-letter'])
  return [
    isSelected ? { text: glyphs.pointer, paint: colors.bold } : ' ',
    isSelected ? { text: queue.name, paint: colors.bold } : queue.name,
    depthCell(style, queue, most),
    String(countOf(queue, ['pending', 'queued'])),
    String(countOf(queue, ['in-progress', 'incomplete'])),
    dead === 0 ? '0' : { text: String(dead), paint: colors.red },
    rateText(queue.arrivals),
    courseOf(style, queue.arrivals),
    rateText(queue.completions),
    courseOf(style, queue.completions),
    queue.oldestWaitSeconds > 0 ? duration(queue.oldestWaitSeconds * 1_000) : '',
    `${queue.agents} of ${queue.agentsMax}`,
    stateCell(style, queue),
  ]
}

const tableOf = (style: Style, heads: ReadonlyArray<Column>, rows: ReadonlyArray<Row>, width: number): ReadonlyArray<string> => {
  const layout = layoutOf(heads, rows, width, true)
  return [heads.map(({ head }) => ({ text: head, paint: style.colors.bold })), ...rows].map((row) => lineOf(layout, row))
}

/** The range of rows that is shown. It includes the selected row. */
const windowOf = (length: number, at: number, rows: number): readonly [from: number, to: number] => {
  const from = Math.max(0, Math.min(at - Math.floor(rows / 2), length - rows))
  return [from, from + rows]
}

const taskColumns: ReadonlyArray<Column> = [{ head: '#' }, { head: 'ID', min: 8 }, { head: 'TYPE', min: 6, leaveOut: 2 }, { head: 'FOR' }, { head: 'AGENT', min: 5, leaveOut: 1 }]

const tasksOf = (style: Style, now: number, title: string, tasks: QueueDetail['running'], time: 'claimedAt' | 'createdAt', width: number, rows: number): ReadonlyArray<string> => {
  if (rows < 2) return []
  const shown = tasks.slice(0, rows - 2).map((task): Row => [
    String(task.number), clean(task.id, 60), clean(task.type, 40), duration(now - Date.parse(task[time] ?? task.createdAt)), clean(task.currentClaimant ?? '', 40),
  ])
  if (shown.length === 0) return [fit({ text: `${title}: none`, paint: style.colors.dim }, width)]
  return [fit({ text: title, paint: style.colors.bold }, width), ...tableOf(style, taskColumns, shown, width)]
}

const headline = (style: Style, { url, everyMs, state, figures, problem }: Screen, width: number): string => {
  const at = figures === undefined ? '' : `  ${new Date(figures.at).toISOString().slice(11, 19)}Z`
  if (problem !== undefined) return fit({ text: `daybook top  ${url}${at}  no answer: ${clean(problem, 200)}`, paint: style.colors.red }, width)
  const { selected } = state
  if (figures !== undefined && selected !== undefined && figures.queues.length > 0 && !figures.queues.some(({ name }) => name === selected)) {
    return fit({ text: `daybook top  ${url}${at}  there is no queue ${clean(selected, 60)}${didYouMean(selected, figures.queues.map(({ name }) => name))}: another one is selected`, paint: style.colors.yellow }, width)
  }
  const pace = state.isPaused ? 'PAUSED (space goes on)' : `every ${everyMs / 1_000} s`
  return fit({ text: `daybook top  ${url}${at}  ${pace}  by ${state.order}`, paint: style.colors.bold }, width)
}

const legend = (style: Style, width: number): string =>
  fit({ text: barStatuses.map(([name], i) => `${style.glyphs.fills[i] as string} ${name}`).join('  '), paint: style.colors.dim }, width)

const footer = (style: Style, { view }: TopState, width: number): string => {
  const keys = view === 'queue' ? 'q quit  esc back  up/down queue  space pause  ? help' : 'q quit  up/down select  enter open  s sort  space pause  ? help'
  return fit({ text: keys, paint: style.colors.dim }, width)
}

const alertsOf = (style: Style, now: number, { alerts }: QueueDetail, width: number, rows: number): ReadonlyArray<string> =>
  alerts.slice(0, Math.max(0, rows)).map(({ key, message, raisedAt }) =>
    fit({ text: `${style.glyphs.mark} ${clean(key, 80)}, ${duration(now - Date.parse(raisedAt))}: ${clean(message, 300)}`, paint: style.colors.red }, width))

const breakersOf = (style: Style, { breakers }: QueueFigures, width: number): ReadonlyArray<string> =>
  breakers.length === 0 ? [] : [fit({ text: `breakers: ${breakers.map(({ type, state }) => `${clean(type, 60)} ${state}`).join(', ')}`, paint: style.colors.red }, width)]

/** The part below the table: alerts, breakers, and the tasks that take longest. */
const detailOf = (style: Style, figures: Figures, queue: QueueFigures, width: number, rows: number): ReadonlyArray<string> => {
  const { detail, at } = figures
  if (detail === undefined || detail.queue !== queue.name) return []
  const above = [...breakersOf(style, queue, width), ...alertsOf(style, at, detail, width, Math.min(5, rows - 8))]
  const each = Math.floor((rows - above.length) / 2)
  return [
    ...above,
    ...tasksOf(style, at, `running longest in ${detail.queue}`, detail.running, 'claimedAt', width, each),
    ...tasksOf(style, at, `waiting longest in ${detail.queue}`, detail.waiting, 'createdAt', width, rows - above.length - each),
  ]
}

const share = ({ colors, glyphs }: Style, queue: QueueFigures, width: number): ReadonlyArray<string> => {
  const rows: ReadonlyArray<Row> = barStatuses.map(([name, statuses], i) => {
    const many = countOf(queue, statuses)
    return [name, String(many), { text: barOf(glyphs, many, depthOf(queue), Math.min(40, Math.max(1, width - 20))), paint: paintsOf({ colors, glyphs })[i] as Paint }]
  })
  return rowsOn({ width }, [{ head: '' }, { head: '' }, { head: '', min: 1 }], rows)
}

const help: ReadonlyArray<string> = [
  'keys',
  '  q, ctrl-c      quit',
  '  up, down       select a queue (also k, j)',
  '  enter          open the queue; esc goes back',
  '  s              sort by depth, oldest wait, arrivals or name',
  '  space          stop and go on refreshing',
  '',
  'IN and DONE are tasks enqueued and completed per minute, as this server counts them,',
  'over the last minute or since top began. OLDEST is how long the oldest ready task has waited.',
  'AGENTS are those that hold a task, of the limit. Any key goes back.',
]

const bodyOf = (style: Style, screen: Screen, { columns: width }: Size, rows: number): ReadonlyArray<string> => {
  const { state, figures } = screen
  if (state.view === 'help') return help.map((line) => fit(line, width))
  if (figures === undefined) return [screen.problem === undefined ? 'asking …' : '']
  const queues = inOrder(figures.queues, state.order)
  const at = selectedIndex(queues, state)
  const selected = queues[at]
  if (selected === undefined) return [fit('no queues yet: a queue is created by its first task', width)]
  const most = Math.max(1, ...queues.map(depthOf))
  if (state.view === 'queue') {
    const above = [...tableOf(style, columns, [queueRow(style, selected, most, true)], width), '', ...share(style, selected, width), '']
    return [...above, ...detailOf(style, figures, selected, width, rows - above.length)]
  }
  const [from, to] = windowOf(queues.length, at, Math.max(1, Math.min(queues.length, Math.floor((rows - 2) / 2))))
  const table = tableOf(style, columns, queues.slice(from, to).map((queue) => queueRow(style, queue, most, queue === selected)), width)
  const above = [...table, legend(style, width), '']
  return [...above, ...detailOf(style, figures, selected, width, rows - above.length)]
}

/** As many lines as the terminal has rows, none wider than the terminal. The last line names the keys. */
export const frameOf = (style: Style, screen: Screen, size: Size): ReadonlyArray<string> => {
  const rows = Math.max(0, size.rows - 2)
  const body = bodyOf(style, screen, size, rows).slice(0, rows)
  return [headline(style, screen, size.columns), ...body, ...Array.from({ length: rows - body.length }, () => ''), footer(style, screen.state, size.columns)].slice(0, Math.max(1, size.rows))
}

/** The same for pipes, without empty lines at the end and without the keys. */
export const printedFrame = (style: Style, screen: Screen, columns: number): ReadonlyArray<string> => {
  const lines = [...frameOf(style, screen, { columns, rows: 60 }).slice(0, -1)]
  while (lines[lines.length - 1] === '') lines.pop()
  return lines
}
