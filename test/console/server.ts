/** A real server on a seeded log, as a user has it; and the same killed and started again. */
import { rmSync } from 'node:fs'
import { serve } from '@daybook/adapters/serve'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { afterAll, beforeAll } from 'vitest'
import { withoutBrowser } from './browser.js'
import { adminToken, type FleetTokens, logFile } from './fleet.js'
import { seededFolder } from './seeded-folder.js'
import { tablesShowAll } from './tables-show-all.js'

export interface ConsoleServer {
  readonly url: string
  readonly tokens: FleetTokens
  /** May do everything. */
  readonly admin: DaybookClient
  readonly stop: () => Promise<void>
  /** Starts it again, on the same port and data. */
  readonly start: () => Promise<void>
  /** Ends it for good. */
  readonly remove: () => Promise<void>
}

const openServer = async (dataDir: string, port: number) =>
  serve({ host: '127.0.0.1', port, dataDir, store: { kind: 'sqlite', file: logFile(dataDir), sharing: 'exclusive' }, auth: 'tokens', token: adminToken, checkpoints: 'off', memory: { kind: 'off' } })

export const startConsoleServer = async (): Promise<ConsoleServer> => {
  const { dataDir, tokens } = await seededFolder()
  let running = await openServer(dataDir, 0)
  const { url } = running
  const admin = createClient({ url, token: adminToken })
  await tablesShowAll(admin)
  return {
    url,
    tokens,
    admin,
    stop: () => running.close(),
    start: async () => {
      running = await openServer(dataDir, Number(new URL(url).port))
    },
    remove: async () => {
      await admin.close()
      await running.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** A seeded server for the tests of the calling file. */
export const useConsoleServer = (): (() => ConsoleServer) => {
  let server: ConsoleServer | undefined
  beforeAll(async () => {
    if (!withoutBrowser) server = await startConsoleServer()
  })
  afterAll(() => server?.remove())
  return () => {
    if (server === undefined) throw new Error('the server has not been started')
    return server
  }
}
