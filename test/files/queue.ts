/** A queue in memory and a folder for its files, new for each test. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaybook, type Daybook, prepareTask, type QueueEngine } from '@daybook/adapters/engine'
import { type QueueFolders, startQueueFiles } from '@daybook/adapters/files'
import { openMemoryStore } from '@daybook/adapters/memory'
import type { CommandOf, NewTask, Result } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { afterEach, beforeEach } from 'vitest'

export const caller = { actor: 'test' }
export const fileNames = ['pending.json', 'in-progress.json', 'completed.json', 'dead-letter.json', 'cancelled.json']

export interface Shown {
  readonly revision: number
  readonly total: number
  readonly tasks: ReadonlyArray<Record<string, unknown>>
}

class Fixture {
  dir = ''
  folders: QueueFolders | undefined
  readonly warnings: Array<string> = []
  private opened: Daybook | undefined

  get daybook(): Daybook {
    if (this.opened === undefined) throw new Error('call useQueueFiles() first')
    return this.opened
  }

  open(): void {
    this.dir = mkdtempSync(join(tmpdir(), 'daybook-files-'))
    this.opened = createDaybook({ store: openMemoryStore() })
    this.warnings.splice(0)
  }

  async close(): Promise<void> {
    await this.folders?.close()
    this.folders = undefined
    await this.daybook.close()
    rmSync(this.dir, { recursive: true, force: true })
  }
}
export const fixture = new Fixture()

export const useQueueFiles = (): void => {
  beforeEach(() => fixture.open())
  afterEach(() => fixture.close())
}

/** Starts the files in `at`, and waits for the first attempt to write all of them. */
export const start = async (at = fixture.dir): Promise<QueueFolders> => {
  const folders = startQueueFiles({ daybook: fixture.daybook, dir: at, warn: (message) => void fixture.warnings.push(message) })
  fixture.folders = folders
  await folders.tried
  return folders
}
export const read = (name: string, folder = fixture.dir): Shown => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Shown
export const ids = (name: string): ReadonlyArray<unknown> => read(name).tasks.map(({ id }) => id)
export const shown = async (engine: QueueEngine): Promise<void> => fixture.folders?.of(engine.name)?.shown(engine.status().revision)

export const right = <A>(outcome: E.Either<unknown, A>): A => {
  if (E.isLeft(outcome)) throw new Error(JSON.stringify(outcome.left))
  return outcome.right
}
export const enqueue = async (engine: QueueEngine, tasks: ReadonlyArray<NewTask>): Promise<number> =>
  right(await engine.submit({ type: 'Enqueue', tasks: tasks.map((task) => right(prepareTask(task))) }, caller)).revision
export const claim = async (engine: QueueEngine, max = 1) =>
  right(await engine.claim({ type: 'Claim', agent: 'a', max }, caller)).value

export interface Held {
  readonly task: string
  readonly token: number
}
export const completion = ({ task, token }: Held, result: Result): CommandOf<'Complete'> =>
  ({ type: 'Complete', task, agent: 'a', token, content: JSON.stringify(result), hasReport: result.decisionReport !== undefined })
export const failure = ({ task, token }: Held, message = 'no'): CommandOf<'Fail'> =>
  ({ type: 'Fail', task, agent: 'a', token, error: { message }, retryable: false })
export const complete = async (engine: QueueEngine, held: Held, result: Result) => right(await engine.submit(completion(held, result), caller))
export const fail = async (engine: QueueEngine, held: Held, message?: string) => right(await engine.submit(failure(held, message), caller))
