import { Command } from 'commander'
import type { Status } from '@daybook/core'
import type { DaybookClient, TaskFilter, TaskPage, TaskView } from '../../client/index.js'
import { askedStatuses } from '../asked-statuses.js'
import { type Cli, examples } from '../cli.js'
import { pauseOf, tellPause } from '../pause.js'
import type { Printer } from '../printer.js'
import type { Row } from '../table.js'
import { taskColumns, taskRow } from '../task-table.js'
import { addFilterOptions, type FilterOptions, filterOf, statusesOf } from '../task-filter.js'
import { positive } from '../values.js'

interface Options extends FilterOptions {
  readonly limit: number
  readonly all?: boolean
}

/** The order in which statuses are listed: active ones come first. */
const order: ReadonlyArray<Status> = ['in-progress', 'incomplete', 'pending', 'queued', 'scheduled', 'waiting', 'blocked', 'dead-letter', 'completed', 'cancelled', 'discarded']

/** The largest number of tasks in memory. */
const pageMax = 1_000

export const listCommand = (cli: Cli): Command =>
  addFilterOptions(new Command('list').description('tasks, by status, then by priority, then by number; explain says when one is claimed'))
    .option('-n, --limit <n>', 'at most so many', positive, 50)
    .option('--all', 'all of them, however many')
    .addHelpText('after', examples(
      'daybook list --status pending',
      "daybook list --status dead-letter --type 'eng-*' --json | jq -r '.tasks[].id'",
      'daybook list --search timeout --all',
    ))
    .action(cli.connected<Options>(async ({ printer, client }, options) => {
      const max = options.all === true ? Number.POSITIVE_INFINITY : options.limit
      const tasks = matching(client, filterOf(options), statusesOf(options) ?? order, max)
      const paused = await pauseOf(client)
      if (printer.isJson) return printJson(printer, tasks, paused)
      const isMore = await printTable(printer, tasks)
      if (isMore) printer.line(printer.colors.dim('… and more: --limit or --all shows them'))
      tellPause(printer, paused)
    }))

type Filter = Omit<TaskFilter, 'status' | 'limit' | 'cursor'>
/** Yields pages. Returns whether more than `max` tasks match. */
type Matching = AsyncGenerator<ReadonlyArray<TaskView>, boolean>

/** One status after the other, at most `max` tasks in all. */
const matching = async function* (client: DaybookClient, filter: Filter, wanted: ReadonlyArray<string>, max: number): Matching {
  let left = max
  for (const status of askedStatuses(order.filter((each) => wanted.includes(each)))) {
    for (let cursor: string | null = ''; cursor !== null; ) {
      // One more than is shown, to find out whether there are more.
      const page: TaskPage = await client.tasks({ ...filter, status, limit: Math.min(left + 1, pageMax), ...(cursor === '' ? {} : { cursor }) })
      yield page.tasks.slice(0, left)
      if (page.tasks.length > left) return true
      left -= page.tasks.length
      cursor = page.nextCursor ?? null
    }
  }
  return false
}

const printJson = async (printer: Printer, tasks: Matching, paused: string | null): Promise<void> => {
  let isMore = false
  const { page, end } = printer.jsonPages('tasks', () => ({ more: isMore, paused }))
  for (;;) {
    const { value, done } = await tasks.next()
    if (done === true) {
      isMore = value
      return end()
    }
    await page(value)
  }
}

/** Small pages are printed together, because the table is laid out for the first one. */
const printTable = async (printer: Printer, tasks: Matching): Promise<boolean> => {
  const { page, end } = printer.tablePages(taskColumns, 'no such tasks')
  let rows: Array<Row> = []
  for (;;) {
    const { value, done } = await tasks.next()
    if (done !== true) rows.push(...value.map((task) => taskRow(printer.colors, task)))
    if (done === true || rows.length >= pageMax) {
      await page(rows)
      rows = []
    }
    if (done === true) {
      end()
      return value
    }
  }
}
