/** Enqueues any number of tasks in pages. Each page is accepted as a whole or not at all. */
import { plural, theFirst } from '@daybook/core/common'
import { DaybookError, type Enqueued } from '../../client/index.js'
import type { Session } from '../cli.js'
import { Duplicates } from '../duplicates.js'
import { UsageError } from '../exit-codes.js'
import { createProgress } from '../progress.js'
import { type FileTask, tasksOfFile } from '../task-file.js'

/** The server's limit for one request. */
const pageTasksMax = 1_000
/** Safely below the server's limit for a body. */
const pageBytesMax = 3_000_000

const pagesOf = async function* (tasks: AsyncIterable<FileTask>): AsyncGenerator<ReadonlyArray<FileTask>> {
  let page: Array<FileTask> = []
  let bytes = 0
  for await (const task of tasks) {
    const size = Buffer.byteLength(JSON.stringify(task.task) ?? '')
    if (page.length === pageTasksMax || (page.length > 0 && bytes + size > pageBytesMax)) {
      yield page
      page = []
      bytes = 0
    }
    page.push(task)
    bytes += size
  }
  if (page.length > 0) yield page
}

/** `batchId`: the batch that all of them join. */
export const enqueueFile = async ({ io, printer, client }: Session, file: string, tell: (task: Enqueued) => void, batchId?: string): Promise<void> => {
  const progress = createProgress(io, printer)
  let revision = -1
  let taken = 0
  let duplicates = 0
  const told = new Duplicates()
  let pages = 0
  const json = printer.isJson ? printer.jsonPages('results', () => ({ revision })) : undefined
  try {
    for await (const page of pagesOf(tasksOfFile(file, io))) {
      const answer = await client.enqueueAll(page.map(({ task }) => (batchId === undefined ? task : { ...task, batchId }))).catch((error: unknown) => {
        throw ofPage(error, page, taken + duplicates)
      })
      pages++
      revision = answer.revision
      const again = answer.results.filter(({ duplicate }) => duplicate).length
      duplicates += again
      taken += answer.results.length - again
      for (const each of answer.results) told.add(each)
      if (json !== undefined) await json.page(answer.results)
      else answer.results.forEach(tell)
      await io.flushed()
      progress(`enqueueing: ${taken + duplicates}`)
    }
    if (pages > 1 && !printer.isJson) printer.line(`${plural(taken, 'task')} enqueued${duplicates === 0 ? '' : `, ${duplicates} were there already`}`)
    const notice = told.notice()
    if (notice !== undefined) printer.note(notice)
  } catch (error) {
    throw error instanceof UsageError && pages > 0 ? new UsageError(`${error.message} (${storyOf(taken + duplicates)})`) : error
  } finally {
    if (pages > 0) json?.end()
  }
}

const storyOf = (before: number): string => `${theFirst(before, 'task')} in the queue: run it again when it is mended, what is there is passed over`

/** The error of a page, with positions in the file and the number of tasks enqueued before. */
const ofPage = (error: unknown, page: ReadonlyArray<FileTask>, before: number): unknown => {
  if (!(error instanceof DaybookError)) return error
  const { code, status, errors, retryAfterSeconds, unsent } = error
  const placed = (text: string): string => text.replace(/tasks\[(\d+)\]/g, (path, index: string) => page[Number(index)]?.place ?? path)
  const isUnknown = code === 'outcome-unknown' || (code === 'unreachable' && !unsent)
  const [first, last] = [page[0], page[page.length - 1]] as [FileTask, FileTask]
  const fate = isUnknown ? 'may be there or not' : 'are not'
  const story = before === 0 ? '' : ` (${storyOf(before)}; those from ${first.place} to ${last.place} ${fate})`
  return new DaybookError(code, placed(error.detail) + story, {
    status, errors: errors?.map((field) => ({ ...field, path: placed(field.path) })), retryAfterSeconds, unsent, cause: error,
  })
}
