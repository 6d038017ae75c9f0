/** A queue on an SQLite file (synchronous=FULL), in this process or in a server process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { DaybookClient, NewTask as ClientTask } from '@daybook/adapters/client'
import { createDaybook, type Daybook, type Caller, prepareTask, type QueueEngine } from '@daybook/adapters/engine'
import { openSnapshotFolder } from '@daybook/adapters/files'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore } from '@daybook/adapters/store'
import type { NewTask } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { inParallel, newTask } from './measure.js'

/** Name of the log file in the server's data folder. */
export const logFile = 'daybook.sqlite'

export const caller: Caller = { actor: 'bench' }

export interface Opened {
  readonly daybook: Daybook
  readonly engine: QueueEngine
}

export const openQueue = async (folder: string, other?: { readonly store: EventStore; readonly queue: string }): Promise<Opened> => {
  const warn = (message: string): void => void process.stderr.write(`${message}\n`)
  const daybook = createDaybook({
    store: other?.store ?? (await openSqliteStore({ file: join(folder, logFile) })),
    snapshots: await openSnapshotFolder(join(folder, 'snapshots'), { rows: { warn } }),
    warn,
  })
  await daybook.ready
  const engine = await daybook.open(other?.queue ?? 'default')
  // The peers have no decision reports, so none are required here.
  right(await engine.submit({ type: 'Configure', patch: { decisionReport: 'optional' } }, caller))
  return { daybook, engine }
}

export const right = <A>(outcome: E.Either<unknown, A>): A => {
  if (E.isRight(outcome)) return outcome.right
  throw new Error(`refused: ${JSON.stringify(outcome.left)}`)
}

export const enqueue = async (engine: QueueEngine, tasks: ReadonlyArray<NewTask>): Promise<void> => {
  right(await engine.submit({ type: 'Enqueue', tasks: tasks.map((task) => right(prepareTask(task))) }, caller))
}

/** Enqueues `count` tasks, 500 at a time, four calls in flight. Default: tasks of mixed priorities. */
export const fill = (engine: QueueEngine, count: number, task: () => NewTask = newTask): Promise<number> => {
  let left = count
  return inParallel(Math.ceil(count / 500), 4, () => {
    const size = Math.min(500, left)
    left -= size
    return enqueue(engine, Array.from({ length: size }, task))
  })
}

/** The same over HTTP. */
export const fillOver = (client: DaybookClient, count: number, task: () => ClientTask = newTask): Promise<number> => {
  let left = count
  return inParallel(Math.ceil(count / 500), 4, async () => {
    const size = Math.min(500, left)
    left -= size
    await client.enqueueAll(Array.from({ length: size }, task))
  })
}

export interface Server {
  readonly url: string
  readonly token: string
  readonly pid: number
  readonly stop: () => Promise<void>
}

const token = 'bench-token-of-this-run'

/** The real server in a separate process, started as a user would start it. */
export const startServer = async (folder: string): Promise<Server> => {
  const bin = fileURLToPath(new URL('../../packages/adapters/bin/daybook.js', import.meta.url))
  const child = spawn(process.execPath, [bin, 'serve', '--port', '0', '--data', folder], {
    env: { ...process.env, DAYBOOK_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const url = await firstUrl(child)
  const answer = await fetch(`${url}/api/queues/default/settings`, {
    method: 'PATCH',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ decisionReport: 'optional' }),
  })
  if (!answer.ok) throw new Error(`the server refused the settings: ${await answer.text()}`)
  return {
    url,
    token,
    pid: child.pid ?? 0,
    stop: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}

const firstUrl = async (child: ChildProcess): Promise<string> => {
  if (child.stdout === null) throw new Error('no output of the server to read')
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /https?:\/\/\S+/.exec(line)?.[0]
    if (url !== undefined) {
      child.stdout.resume()
      return url.replace(/\/$/, '')
    }
  }
  throw new Error('the server ended before it was ready')
}
