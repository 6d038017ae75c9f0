/** The read models of a server whose EventStoreDB goes away. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import Database from 'better-sqlite3'
import { expect, test } from 'vitest'
import { EventStoreServer } from '../support/eventstoredb/server.js'
import { inTime } from '../support/in-time.js'

test('EV-04: on EventStoreDB the server keeps them too, and ends although the store cannot be reached', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'daybook-views-away-'))
  const node = await EventStoreServer.start()
  const server = await serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'eventstoredb', url: node.url }, auth: 'off', memory: { kind: 'off' } })
  try {
    const client = createClient({ url: server.url })
    await client.enqueue({ type: 'mow' })
    await client.readModels({ atLeast: 0 })
    const db = new Database(join(dir, 'views.db'), { readonly: true })
    expect(db.prepare('SELECT type, status FROM tasks').all()).toEqual([{ type: 'mow', status: 'pending' }])
    db.close()
    await node.close()
  } finally {
    await inTime('the end of the server', server.close())
    rmSync(dir, { recursive: true, force: true })
  }
})
