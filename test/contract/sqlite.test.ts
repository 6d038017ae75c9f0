import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { eventStoreContract } from './event-store-contract.js'

const folder = mkdtempSync(join(tmpdir(), 'daybook-contract-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
eventStoreContract('sqlite', () => openSqliteStore({ file: join(folder, `${files++}.daybook`) }))
eventStoreContract('sqlite, shared', () => openSqliteStore({ file: join(folder, 'shared.daybook'), sharing: 'shared' }), {
  numRuns: 20,
})
