/** EV-08: a server writes its alerts to its log. These include alerts that are due when it starts, and those of a queue that has just begun. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDaybook } from '@daybook/adapters/engine'
import { serve } from '@daybook/adapters/serve'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { afterAll, expect, test } from 'vitest'
import { caller, enqueue, ok, task, until } from '../support/queue.js'

const dataDir = mkdtempSync(join(tmpdir(), 'daybook-alert-log-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))
const file = join(dataDir, 'log.sqlite')

test('EV-08: each alert is a line when it is raised and a line when it is cleared, once each, over a restart', async () => {
  // No engine here raises alerts yet.
  const before = createDaybook({ store: await openSqliteStore({ file, sharing: 'exclusive' }) })
  const queue = await before.open('q')
  ok(await queue.submit(enqueue(task('a')), caller))
  ok(await queue.submit({ type: 'OpenBreaker', taskType: 'mail', reason: 'down' }, caller))
  await before.close()

  const lines: Array<{ readonly queue: string; readonly alert: string; readonly msg: string }> = []
  const log = { write: (text: string) => void lines.push(JSON.parse(text) as (typeof lines)[number]) }
  const start = () => serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'sqlite', file, sharing: 'exclusive' }, auth: 'off', defaults: { alerts: { criticalDepthSeconds: 0 } } }, { log })
  const said = (): ReadonlyArray<string> => lines.filter(({ alert }) => alert !== undefined).map(({ msg }) => msg)
  const first = await start()
  await until(() => said().length === 1)
  expect(said()).toEqual(['alert in queue q: the breaker of type mail is open (down): its tasks are held back'])
  expect(lines[0]).toMatchObject({ queue: 'q', alert: 'breaker-open:mail' })
  const post = (url: string, path: string, body: object): Promise<Response> => fetch(`${url}/api/queues/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  await post(first.url, 'new/tasks', { id: 'x', type: 'urgent', priority: 'CRITICAL' })
  await until(() => said().length === 2)
  expect(said()[1]).toContain('alert in queue new: 1 ready CRITICAL')
  await first.close()

  const second = await start()
  const closed = await post(second.url, 'q/breakers/mail/close', { reason: 'up' })
  // The revision is that of the request's own event, not of the alert that follows it.
  const { events } = (await (await fetch(`${second.url}/api/queues/q/events?from=${closed.headers.get('x-daybook-revision')}&limit=1`)).json()) as { readonly events: ReadonlyArray<{ readonly type: string }> }
  expect(events[0]?.type).toBe('BreakerClosed')
  await until(() => said().length === 3)
  expect(said()[2]).toBe('alert in queue q is over: breaker-open:mail')
  await second.close()
  expect(said()).toHaveLength(3)
})
