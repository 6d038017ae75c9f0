/** The list. It has a row for each task, and only visible rows are drawn. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { counted } from '../../parts/format.js'
import { ProblemNote } from '../../parts/problem-note.js'
import { Skeleton } from '../../parts/loaded.js'
import { useKeys } from '../../parts/keys.js'
import type { TaskColumn } from './columns.js'
import { rowsWindow } from './rows-window.js'
import type { TaskPages } from './task-pages.js'

const rowHeight = 33

export interface TaskListProps {
  readonly queue: string
  readonly pages: TaskPages
  readonly columns: ReadonlyArray<TaskColumn>
  /** Number of tasks that match, if it is known. */
  readonly expected: number | undefined
  /** Default: nothing can be selected. */
  readonly selection?: { readonly ids: ReadonlySet<string>; readonly toggle: (id: string) => void }
}

export const TaskList = ({ queue, pages, columns, expected, selection }: TaskListProps) => {
  const frame = useRef<HTMLDivElement>(null)
  const [scrollTop, setScrollTop] = useState(0)
  const [viewHeight, setViewHeight] = useState(600)
  const [active, setActive] = useState(-1)
  const [isPointedAt, setPointedAt] = useState(false)
  const [hasFocus, setFocus] = useState(false)
  // Whoever points at a row, has the focus there, or has scrolled, reads: no row moves then, and new ones are counted.
  const isReading = isPointedAt || hasFocus || scrollTop > 0
  useEffect(() => pages.hold(isReading), [pages, isReading])
  void pages.version.value
  const { rows, isExact } = pages.total(expected)
  const shown = rowsWindow({ rows, rowHeight, viewHeight, scrollTop })

  useLayoutEffect(() => {
    const at = frame.current
    if (at === null) return undefined
    const sized = new ResizeObserver(() => setViewHeight(at.clientHeight))
    sized.observe(at)
    return () => sized.disconnect()
    // Before there is an answer, the frame is not there.
  }, [pages.hasAnswer])
  useEffect(() => {
    frame.current?.scrollTo(0, 0)
    setScrollTop(0)
    setActive(-1)
  }, [pages])
  // Until the end is known, there is at least one more page.
  useEffect(() => pages.show(shown.first, isExact ? shown.end : shown.end + 1), [pages, shown.first, shown.end, isExact])
  useEffect(() => {
    if (active < 0) return
    const at = frame.current
    const top = active * rowHeight
    if (at !== null && rows * rowHeight < 8_000_000 && (top < at.scrollTop || top + 2 * rowHeight > at.scrollTop + viewHeight)) at.scrollTo(0, top - viewHeight / 2)
    requestAnimationFrame(() => at?.querySelector<HTMLElement>(`tr[aria-rowindex="${active + 2}"] [data-row-link]`)?.focus())
  }, [active])
  const move = (step: number): void => setActive(Math.max(0, Math.min(rows - 1, active + step)))
  useKeys([
    { keys: 'j', does: 'next task', run: () => move(1) },
    { keys: 'k', does: 'task before', run: () => move(-1) },
    ...(selection === undefined ? [] : [{ keys: 'x', does: 'select the task, or not', run: () => { const row = pages.row(active); if (row !== undefined) selection.toggle(row.task.id) } }]),
  ])

  if (pages.error !== undefined && !pages.hasAnswer && pages.error.code !== 'unreachable') return <ProblemNote problem={pages.error} />
  if (!pages.hasAnswer) return <Skeleton lines={10} />
  return (
    <>
      {pages.arrived > 0 && <button type="button" class="arrived" onClick={() => { pages.showLatest(); setActive(-1); frame.current?.scrollTo(0, 0) }}>{counted(pages.arrived, 'new task')}: show</button>}
      <div
        class="table-frame task-list" ref={frame} tabIndex={0} role="region" aria-label="Tasks"
        onScroll={(event) => setScrollTop(event.currentTarget.scrollTop)} onPointerEnter={(event) => event.pointerType === 'mouse' && setPointedAt(true)} onPointerLeave={() => setPointedAt(false)}
        onFocusIn={() => setFocus(true)} onFocusOut={(event) => setFocus(event.currentTarget.contains(event.relatedTarget as Node | null))}
      >
        <table aria-rowcount={isExact ? rows + 1 : -1}>
          <caption class="hidden">Tasks of {queue} that match</caption>
          <thead>
            <tr aria-rowindex={1}>
              {selection !== undefined && <th scope="col" class="select"><span class="hidden">Selected</span></th>}
              {columns.map(({ key, title, kind, order }) => <th key={key} scope="col" class={`${kind ?? ''} of-${key}`} title={order?.words} aria-sort={order?.place === 1 ? order.direction : undefined}>{title}{order !== undefined && <span class="order" aria-hidden="true">{order.direction === 'ascending' ? '↑' : '↓'}{order.place}</span>}</th>)}
            </tr>
          </thead>
          <tbody>
            <tr class="spacer" aria-hidden="true" style={{ height: `${shown.before}px` }}><td colSpan={columns.length + 1} /></tr>
            {Array.from({ length: shown.end - shown.first }, (_, i) => {
              const index = shown.first + i
              const row = pages.row(index)
              if (row === undefined) return <tr key={`row-${index}`} aria-rowindex={index + 2} class="unknown">{selection !== undefined && <td class="select" />}<td colSpan={columns.length}><span class="quiet">…</span></td></tr>
              const { task, isGone } = row
              return (
                <tr key={task.id} aria-rowindex={index + 2} class={isGone ? 'gone' : undefined} title={isGone ? 'it matches no more' : undefined}>
                  {selection !== undefined && <td class="select"><input type="checkbox" aria-label={`select ${task.id}`} checked={selection.ids.has(task.id)} onChange={() => selection.toggle(task.id)} /></td>}
                  {columns.map(({ key, kind, cell }) => <td key={key} class={`${kind ?? ''} of-${key}`}>{cell(task, queue)}</td>)}
                </tr>
              )
            })}
            <tr class="spacer" aria-hidden="true" style={{ height: `${shown.after}px` }}><td colSpan={columns.length + 1} /></tr>
          </tbody>
        </table>
      </div>
    </>
  )
}
