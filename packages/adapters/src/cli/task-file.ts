/** Reads tasks from a file or standard input: JSON, or one task per line (NDJSON). */
import { createReadStream } from 'node:fs'
import type { NewTask } from '../client/index.js'
import { isObject } from '../is-object.js'
import { cannotRead, UsageError } from './exit-codes.js'
import type { Io } from './io.js'
import { linesOf } from './utf8.js'
import { jsonOf } from './values.js'

/** A task and its position in the file: `tasks[7]` or `line 8`. */
export interface FileTask {
  readonly task: NewTask
  readonly place: string
}

/** The largest size of one JSON document in characters, because it is held in memory as a whole. Lines are not. */
const documentMax = 256 * 2 ** 20

const wanted = 'one task, a list, {"tasks": […]}, or one task a line (NDJSON)'

/** @throws UsageError if the file cannot be read, or contains no tasks. */
export const tasksOfFile = async function* (file: string, io: Io): AsyncGenerator<FileTask> {
  let isEmpty = true
  for await (const task of tasksOf(linesIn(file, io))) {
    isEmpty = false
    yield task
  }
  if (isEmpty) throw new UsageError(`--file holds no tasks: ${wanted} is wanted`)
}

const linesIn = async function* (file: string, io: Io): AsyncGenerator<string> {
  if (file === '-') return yield* io.inputLines()
  try {
    yield* linesOf(createReadStream(file), file)
  } catch (error) {
    if (error instanceof UsageError) throw error
    cannotRead(file)(error)
  }
}

const tasksOf = async function* (lines: AsyncIterable<string>): AsyncGenerator<FileTask> {
  /** All lines so far, while they may still be one document. */
  let text = ''
  let number = 0
  let first: FileTask | undefined
  let isLines = false
  for await (const raw of lines) {
    number++
    const line = number === 1 ? raw.replace(/^\ufeff/, '') : raw
    if (line.trim() === '') continue
    if (isLines) {
      yield ofLine(line, number)
    } else if (first !== undefined) {
      isLines = true
      yield first
      yield ofLine(line, number)
    } else {
      if (text === '') first = alone(line, number)
      text += `${line}\n`
      if (text.length > documentMax) throw new UsageError(`--file is over ${documentMax} characters as one document: give one task a line`)
    }
  }
  if (!isLines && text !== '') yield* ofDocument(text)
}

// The server checks the task's fields.
const ofLine = (line: string, number: number): FileTask => ({ task: jsonOf(line, `line ${number} of --file`) as NewTask, place: `line ${number}` })

/** The first line as a task, if it is one; others may follow. `undefined` if a document begins there. */
const alone = (line: string, number: number): FileTask | undefined => {
  if (!line.trimStart().startsWith('{')) return undefined
  try {
    if ('tasks' in (JSON.parse(line) as object)) return undefined
  } catch {
    return undefined
  }
  return ofLine(line, number)
}

const ofDocument = function* (text: string): Generator<FileTask> {
  const read: unknown = jsonOf(text, '--file')
  const found = Array.isArray(read) ? read : isObject(read) && 'tasks' in read ? read.tasks : [read]
  if (!Array.isArray(found)) throw new UsageError(`--file holds no tasks: ${wanted} is wanted`)
  for (const [index, task] of found.entries()) yield { task: task as NewTask, place: `tasks[${index}]` }
}
