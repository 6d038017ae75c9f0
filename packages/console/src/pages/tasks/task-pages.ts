/**
 * The tasks that match, fetched page by page as far as the user looks. The API goes from page to page by cursors. To reach a distant page, the pages
 * before it are fetched once, and only their cursors are kept. Visible pages follow the queue; the others do not.
 *
 * While the list is held (the pointer is over it), rows change in place and none moves: removed tasks stay as they were, and new ones are counted.
 */
import type { TaskPage, TaskView } from '@daybook/client'
import { signal } from '@preact/signals'
import { pathOf, type Query } from '../../address/url.js'
import { ask } from '../../api/questions.js'
import { ApiProblem, mayPass, request } from '../../api/request.js'

export const pageRows = 200
/** Number of pages that are passed in one request. */
const stride = 5
/** Number of pages out of view whose rows are kept. */
const keptPages = 12
/** After so long, a way that broke off is gone on with. */
const againMs = 3_000

export interface TaskRow {
  readonly task: TaskView
  /** The task no longer matches, or is on another page now. */
  readonly isGone: boolean
}

interface Page {
  rows: ReadonlyArray<TaskRow>
  latest: ReadonlyArray<TaskView>
  /** Where the answer says that the next page begins; `null` if it has none. */
  next: string | null | undefined
  stop: (() => void) | undefined
  seenAt: number
}

export class TaskPages {
  /** Counts the changes, so that components draw again. */
  readonly version = signal(0)
  error: ApiProblem | undefined
  /** Whether rows are known, or that there are none. It stays so when the first page is forgotten. */
  hasAnswer = false
  /** Tasks that came while it was held, and are not shown. */
  arrived = 0
  private readonly cursors: Array<string | undefined> = [undefined]
  private readonly pages = new Map<number, Page>()
  private end: number | undefined
  /** Whether somebody reads the list. */
  isHeld = false
  private isOver = false
  private isWalking = false
  private wanted: readonly [number, number] = [0, 0]

  /** `expected`: the number of tasks, if it is known without counting. `isLive`: visible pages follow the queue. */
  constructor(
    private readonly queue: string,
    private readonly filter: Partial<Query>,
    private readonly isLive: boolean,
  ) {
    this.show(0, 1)
  }

  /** The number of rows. `isExact` is false while more rows may follow. */
  total(expected: number | undefined): { readonly rows: number; readonly isExact: boolean } {
    if (this.end !== undefined) return { rows: this.end, isExact: true }
    const known = (this.cursors.length - 1) * pageRows
    return expected === undefined ? { rows: known, isExact: false } : { rows: Math.max(known, expected), isExact: true }
  }

  row(index: number): TaskRow | undefined {
    return this.pages.get(Math.floor(index / pageRows))?.rows[index % pageRows]
  }

  /** Sets the visible rows: the first, and the one after the last. */
  show(first: number, end: number): void {
    this.wanted = [Math.floor(first / pageRows), Math.floor(Math.max(first, end - 1) / pageRows)]
    const [from, to] = this.wanted
    for (const [index, page] of this.pages) {
      if (index < from || index > to) {
        page.stop?.()
        page.stop = undefined
      }
    }
    this.openWanted()
    this.forget()
  }

  private openWanted(): void {
    const [from, to] = this.wanted
    for (let index = from; index <= to; index++) this.open(index)
  }

  hold(isHeld: boolean): void {
    if (this.isHeld === isHeld) return
    this.isHeld = isHeld
    if (!isHeld) this.showLatest()
  }

  /** Shows what has come, whether it is held or not. */
  showLatest(): void {
    this.arrived = 0
    for (const [index, page] of [...this.pages]) {
      if (page.next === undefined) continue
      page.rows = page.latest.map(rowOf)
      this.follow(index, index * pageRows + page.rows.length, page.next, 1)
    }
    this.version.value++
  }

  stop(): void {
    this.isOver = true
    for (const page of this.pages.values()) page.stop?.()
  }

  private open(index: number): void {
    if (this.isOver || (this.end !== undefined && index * pageRows >= Math.max(1, this.end))) return
    if (index > 0 && this.cursors[index] === undefined) return void this.walk(index)
    const page = this.pages.get(index) ?? { rows: [], latest: [], next: undefined, stop: undefined, seenAt: 0 }
    page.seenAt = performance.now()
    this.pages.set(index, page)
    if (page.stop !== undefined) return
    const cursor = this.cursors[index]
    const { state, stop } = ask<TaskPage>({
      path: pathOf(['api', 'queues', this.queue, 'tasks']),
      query: { ...this.filter, limit: String(pageRows), ...(cursor === undefined ? {} : { cursor }) },
      exact: true,
      ...(this.isLive ? { queue: this.queue } : {}),
    })
    const unsubscribe = state.subscribe(({ answer, error }) => {
      this.error = error
      if (answer !== undefined) this.arrive(index, page, answer.value)
      else this.version.value++
    })
    page.stop = () => {
      unsubscribe()
      stop()
    }
  }

  private arrive(index: number, page: Page, { tasks, nextCursor }: TaskPage): void {
    if (page.latest === tasks) return
    const isFirst = page.latest.length === 0
    page.latest = tasks
    page.next = nextCursor
    this.hasAnswer ||= tasks.length > 0 || nextCursor === null
    if (!this.isHeld || isFirst) page.rows = tasks.map(rowOf)
    else {
      page.rows = heldRows(page.rows, page)
      const shown = new Set(page.rows.map(({ task }) => task.id))
      this.arrived = Math.max(this.arrived, tasks.filter(({ id }) => !shown.has(id)).length)
    }
    this.follow(index, index * pageRows + page.rows.length, nextCursor, 1, !this.isHeld)
    this.version.value++
  }

  /** What a page says about the next: where it begins, or that there is none. `mayMove`: false while it is held, for rows that came before a page must not move those on it. */
  private follow(index: number, rowsSoFar: number, nextCursor: string | null, pages: number, mayMove = true): void {
    if (nextCursor === null) {
      this.end = rowsSoFar
      this.cursors.length = Math.min(this.cursors.length, Math.max(1, Math.ceil(rowsSoFar / pageRows)))
      return
    }
    if (this.end !== undefined && this.end <= rowsSoFar) this.end = undefined
    const next = index + pages
    if (this.cursors[next] === nextCursor || (!mayMove && this.cursors[next] !== undefined)) return
    this.cursors[next] = nextCursor
    const after = this.pages.get(next)
    const [from, to] = this.wanted
    const isWanted = after?.stop !== undefined || (from <= next && next <= to)
    after?.stop?.()
    if (after !== undefined) after.stop = undefined
    if (isWanted) this.open(next)
  }

  /** Fetches all pages up to this one, several at a time. */
  private async walk(index: number): Promise<void> {
    if (this.isWalking) return
    this.isWalking = true
    try {
      while (!this.isOver && this.cursors[this.wanted[0]] === undefined && this.wanted[0] > 0 && (this.end === undefined || this.wanted[0] * pageRows < this.end)) {
        let known = Math.min(this.wanted[0], this.cursors.length - 1)
        while (known > 0 && this.cursors[known] === undefined) known--
        const pages = this.wanted[0] - known >= stride ? stride : 1
        const cursor = this.cursors[known]
        const { value } = await request<TaskPage>('GET', pathOf(['api', 'queues', this.queue, 'tasks']), { query: { ...this.filter, limit: String(pages * pageRows), ...(cursor === undefined ? {} : { cursor }) } })
        this.follow(known, known * pageRows + value.tasks.length, value.nextCursor, pages)
        this.version.value++
      }
    } catch (error) {
      this.error = error instanceof ApiProblem ? error : undefined
      if (this.error !== undefined && mayPass(this.error)) setTimeout(() => this.openWanted(), againMs)
    } finally {
      this.isWalking = false
    }
    const [from, to] = this.wanted
    if (!this.isOver && index >= 0) for (let each = from; each <= to; each++) if (this.cursors[each] !== undefined || each === 0) this.open(each)
    this.version.value++
  }

  private forget(): void {
    const resting = [...this.pages].filter(([, { stop }]) => stop === undefined).sort(([, a], [, b]) => a.seenAt - b.seenAt)
    for (const [index] of resting.slice(0, Math.max(0, resting.length - keptPages))) this.pages.delete(index)
  }
}

const rowOf = (task: TaskView): TaskRow => ({ task, isGone: false })

/** The same rows as they are now. Those after the last that is still on the page may only have been pushed off it by new ones. */
const heldRows = (rows: ReadonlyArray<TaskRow>, { latest, next }: Page): ReadonlyArray<TaskRow> => {
  const fresh = new Map(latest.map((task) => [task.id, task]))
  const lastKnown = next === null ? rows.length : rows.findLastIndex(({ task }) => fresh.has(task.id))
  return rows.map(({ task }, i) => ({ task: fresh.get(task.id) ?? task, isGone: !fresh.has(task.id) && i < lastKnown }))
}
