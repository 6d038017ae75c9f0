/** What happens when the terminal is closed (a window, or a connection to another machine), or when nobody takes the output any more. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
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

test('Ctrl-C at a question is an interruption, and not a no', async () => {
  await server.daybook(['enqueue', 'x', '--queue', 'asked'])
  const cancel = onTerminal('cancel', '--all', '--queue', 'asked')
  await cancel.until((screen) => screen.includes('[y/N]'), 'the question')
  cancel.type('\x03')
  expect(await cancel.ended).toEqual({ code: 130, echo: true })
  expect(await server.json('depth', '--queue', 'asked')).toMatchObject({ byStatus: { pending: 1 } })
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

test('a worker whose output nobody reads any more stops, and finishes the tasks that it has', async () => {
  const q = ['--queue', 'pipe']
  const [begun, goOn] = [join(server.dir, 'begun'), join(server.dir, 'go-on')]
  await server.daybook(['settings', 'set', 'decisionReport=optional', ...q])
  await server.daybook(['enqueue', 'long', '--id', 'long', ...q])
  const program = `[ $DAYBOOK_TASK_TYPE = short ] || { touch ${begun}; until [ -e ${goOn} ]; do sleep 0.05; done; }`
  const worker = start(['work', '--json', '--concurrency', '2', ...q, '--', 'bash', '-c', program], server.env)
  const end = ended(worker)
  let said = ''
  worker.stderr.on('data', (text: string) => (said += text))
  await until(() => existsSync(begun))
  worker.stdout.destroy()
  await server.daybook(['enqueue', 'short', ...q])
  await until(() => said.includes('stopping') || worker.exitCode !== null)
  writeFileSync(goOn, '')
  expect((await end).code).toBe(0)
  expect(await server.json('show', 'long', ...q)).toMatchObject({ status: 'completed' })
})

test('Ctrl-C that ends the reader of a pipe as well is one signal: what runs may finish', async () => {
  const q = ['--queue', 'ctrl-c']
  const [begun, next, goOn] = [join(server.dir, 'c-begun'), join(server.dir, 'c-next'), join(server.dir, 'c-go-on')]
  await server.daybook(['settings', 'set', 'decisionReport=optional', ...q])
  await server.daybook(['enqueue', 'long', '--id', 'long', ...q])
  await server.daybook(['enqueue', 'short', '--id', 'short', ...q])
  const program = `[ $DAYBOOK_TASK_TYPE = short ] && { until [ -e ${next} ]; do sleep 0.05; done; exit 0; }; touch ${begun}; until [ -e ${goOn} ]; do sleep 0.05; done`
  const worker = start(['work', '--json', '--concurrency', '2', '--grace', '600', ...q, '--', 'bash', '-c', program], server.env)
  const end = ended(worker)
  let said = ''
  worker.stderr.on('data', (text: string) => (said += text))
  const status = async (id: string): Promise<unknown> => (await server.json('show', id, ...q) as { readonly status: unknown }).status
  await until(() => existsSync(begun))
  await until(async () => (await status('short')) === 'in-progress')
  worker.kill('SIGINT')
  await until(() => said.includes('stopping'))
  worker.stdout.destroy()
  writeFileSync(next, '')
  await until(async () => (await status('short')) === 'completed')
  // Its line could not be written.
  await server.daybook(['list', ...q])
  writeFileSync(goOn, '')
  expect((await end).code).toBe(0)
  expect(await status('long')).toBe('completed')
})

test.each(['/dev/full', '>(exec <&-)'])('a server goes on when its lines on stderr cannot be written (2> %s)', async (where) => {
  const other = spawn('bash', ['-c', `exec "$0" "$@" 2> ${where}`, process.execPath, join(root, 'packages/adapters/bin/daybook.js'), 'serve', '--port', '0', '--store', 'memory:', '--auth', 'off', '--log-requests', 'all', '--data', join(server.dir, 'deaf')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const code = new Promise((resolve) => other.once('exit', resolve))
  const url = await new Promise<string>((resolve) => other.stdout.setEncoding('utf8').on('data', (text: string) => resolve(/http:\S+/.exec(text)?.[0] ?? '')))
  try {
    for (let i = 0; i < 20; i++) expect((await fetch(`${url}/readyz`)).status).toBe(200)
  } finally {
    other.kill('SIGTERM')
  }
  expect(await code).toBe(0)
})

test('a command that follows the queue and cannot write what it sees fails', async () => {
  await server.daybook(['enqueue', 'x'])
  const watch = spawn('bash', ['-c', 'exec "$0" "$@" > /dev/full', process.execPath, join(root, 'packages/adapters/bin/daybook.js'), 'watch', '--from', '0'], { env: { ...process.env, ...server.env }, stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  watch.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  expect(await new Promise((resolve) => watch.once('close', resolve))).toBe(1)
  expect(said).toMatch(/^daybook: the output cannot be written: ENOSPC/)
})
