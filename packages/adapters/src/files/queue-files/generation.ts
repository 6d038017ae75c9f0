/** One generation of a queue's files: reads all tasks as of one moment, and writes the five files. */
import { join } from 'node:path'
import { type TaskViews, walkTasks } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { type QueueEngine, resultRevisionOf } from '../../engine/index.js'
import { writeWhole } from '../../disk/atomic-write.js'
import type { ContentMemory } from './content-memory.js'
import { type FileList, FileLists } from './queue-file-set.js'
import { recordText } from './queue-record.js'
import { syncPath } from '../../disk/sync-path.js'

/** Number of tasks copied from the state in one turn. */
const tasksPerTurn = 256
/** Number of tasks whose contents are read together. Each has a content, and a completed one also a result. */
const joinMax = 250
/** Number of characters written at a time. */
const chunkChars = 64 * 2 ** 10

export interface Moment {
  readonly revision: number
  readonly lists: ReadonlyArray<FileList>
}

/** `othersTurn` is awaited between the steps, and may reject to cancel. Rejects when the queue cannot be read. */
export const readMoment = async (engine: QueueEngine, othersTurn: () => Promise<void>): Promise<Moment> => {
  let walk: TaskViews | undefined
  try {
    const answer = await engine.read((state) => {
      // After a conflict the engine runs the query again.
      walk?.end()
      walk = walkTasks(state)
      return walk
    })
    if (E.isLeft(answer)) throw new Error(answer.left.detail)
    const { revision, next } = answer.right.value
    const lists = new FileLists()
    for (let tasks = next(tasksPerTurn); tasks !== undefined; tasks = next(tasksPerTurn)) {
      lists.add(tasks)
      await othersTurn()
    }
    return { revision, lists: lists.all() }
  } finally {
    walk?.end()
  }
}

export const writeFiles = async (dir: string, { revision, lists }: Moment, contents: ContentMemory, othersTurn: () => Promise<void>): Promise<void> => {
  contents.begin()
  for (const list of lists) await writeWhole(join(dir, list.name), fileText(list, revision, contents, othersTurn))
  await syncPath(dir)
}

const fileText = async function* ({ total, tasks }: FileList, revision: number, contents: ContentMemory, othersTurn: () => Promise<void>): AsyncGenerator<string> {
  let text = `{"revision":${revision},"total":${total},"tasks":[`
  let separator = '\n'
  for (const views of inGroups(tasks, joinMax)) {
    const texts = await contents.get(views.flatMap((view) => [view.contentRevision, resultRevisionOf(view) ?? []].flat()))
    for (const view of views) {
      const result = resultRevisionOf(view)
      text += separator + recordText(view, texts.get(view.contentRevision), result === undefined ? undefined : texts.get(result))
      separator = ',\n'
      if (text.length < chunkChars) continue
      yield text
      text = ''
      await othersTurn()
    }
  }
  yield `${text}${total === 0 ? '' : '\n'}]}\n`
}

const inGroups = function* <T>(items: Iterable<T>, max: number): Generator<ReadonlyArray<T>> {
  let group: Array<T> = []
  for (const item of items) {
    group.push(item)
    if (group.length < max) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}
