/** What happens when the terminal is closed: a window, or a connection to another machine. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ended, root, serverOfFile, start } from './program.js'
import { type Pty, startPty } from './pty.js'
import { until } from '../support/queue.js'

const server = serverOfFile()
const onTerminal = (...args: ReadonlyArray<string>): Pty => startPty([process.execPath, join(root, 'packages/adapters/bin/daybook.js'), ...args], { ...process.env, ...server.env, TERM: 'xterm' })
const isRunning = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Ended by SIGHUP, as whoever waits for the process expects. */
const byHangUp = -1

test('a worker whose terminal is closed ends its program, and gives the task back', async () => {
  await server.daybook(['enqueue', 'x', '--id', 'a'])
  const pidFile = join(server.dir, 'pid')
  const worker = onTerminal('work', '--grace', '0', '--', 'bash', '-c', `echo $$ > ${pidFile}.new; mv ${pidFile}.new ${pidFile}; sleep 600`)
  await until(() => existsSync(pidFile))
  worker.close()
  expect((await worker.ended).code).toBe(byHangUp)
  await until(() => !isRunning(Number(readFileSync(pidFile, 'utf8'))))
  expect(await server.json('show', 'a')).toMatchObject({ status: 'pending', attempts: 0 })
})

test('a server whose terminal is closed closes its log, as at SIGTERM', async () => {
  const file = join(server.dir, 'other')
  const other = onTerminal('serve', '--port', '0', '--data', file)
  await other.until((screen) => screen.includes('ready at'), 'the line of a server that is ready')
  other.close()
  expect((await other.ended).code).toBe(byHangUp)
  expect(existsSync(join(file, 'daybook.sqlite'))).toBe(true)
  expect(existsSync(join(file, 'daybook.sqlite-wal'))).toBe(false)
})

test('SIGHUP ends a command that follows a log, and its file is left whole', async () => {
  const views = join(server.dir, 'own.db')
  await server.daybook(['enqueue', 'x'])
  const project = start(['project', '--data', join(server.dir, 'data'), '--views', views], server.env)
  const end = ended(project)
  await until(() => existsSync(views))
  project.kill('SIGHUP')
  expect((await end).code).toBe(0)
  expect(existsSync(`${views}-wal`)).toBe(false)
})
