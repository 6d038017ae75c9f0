/** A real engine and a real server on a store in memory, for tests of worker and client. */
import { openTokens } from '@daybook/adapters/auth'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { createDaybook, type Daybook, type QueueEngine } from '@daybook/adapters/engine'
import { startHttpServer } from '@daybook/adapters/http'
import { openMemoryStore } from '@daybook/adapters/memory'

export interface RealQueue {
  readonly daybook: Daybook
  readonly url: string
  readonly token: string
  readonly client: DaybookClient
  readonly engine: () => Promise<QueueEngine>
  readonly stop: () => Promise<void>
}

const token = 'dbk_token-of-these-tests'

export const startRealQueue = async (): Promise<RealQueue> => {
  const daybook = createDaybook({ store: openMemoryStore() })
  const { tokens } = openTokens({ dir: 'memory', adminToken: token })
  const http = await startHttpServer({ daybook, tokens, port: 0 })
  const client = createClient({ url: http.url, token })
  // Only one test is about completions without a report. For the others it is optional.
  await client.settings.patch({ decisionReport: 'optional', defaults: { backoffSeconds: 0 } })
  return {
    daybook,
    url: http.url,
    token,
    client,
    engine: () => daybook.open('default'),
    stop: async () => {
      await client.close()
      await http.close(1_000)
      await daybook.close()
    },
  }
}
