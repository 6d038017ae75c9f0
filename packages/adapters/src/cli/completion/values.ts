/** Values for a completion. Some are known; for others a server is asked, silently and for a short time. */
import { bands, settingsDefault, statuses } from '@daybook/core/common'
import { createClient, type DaybookClient } from '../../client/index.js'
import { messageEvents } from '../../http/websocket/message-events.js'
import { readConnection } from '../connection.js'
import { reportNames } from '../report/names.js'
import { flatten } from '../setting-paths.js'
import type { Io } from '../io.js'
import { tokenRoles } from '../roles.js'
import type { Kind } from './kinds.js'

/** How long a user who pressed the tab key waits for a server, in milliseconds. */
const answerMs = 700

const ask = async (given: Readonly<Record<string, string>>, env: Io['env'], question: (client: DaybookClient) => Promise<ReadonlyArray<string>>): Promise<ReadonlyArray<string>> => {
  try {
    const option = (name: string): object => (given[`--${name}`] === undefined || given[`--${name}`] === '' ? {} : { [name]: given[`--${name}`] })
    const { url, token, queue } = readConnection({ ...option('url'), ...option('token'), ...option('queue') }, env)
    const client = createClient({ url, queue, agentName: 'daybook-completion', retryForMs: 0, ...(token === undefined ? {} : { token }) })
    const tooLate = new Promise<ReadonlyArray<string>>((resolve) => setTimeout(resolve, answerMs, []).unref())
    const answer = await Promise.race([question(client), tooLate])
    client.close().catch(() => undefined)
    return answer
  } catch {
    // No server, no token, another queue: there is nothing to suggest.
    return []
  }
}

const settingPaths = (): ReadonlyArray<string> => flatten(settingsDefault).map(([path]) => path)

/** The values of this kind. Empty for files, which the shell completes itself. Never rejects. */
export const valuesOf = async (kind: Kind, given: Readonly<Record<string, string>>, env: Io['env']): Promise<ReadonlyArray<string>> => {
  switch (kind) {
    case 'statuses':
      return statuses
    case 'priorities':
      return bands
    case 'roles':
      return tokenRoles
    case 'reports':
      return reportNames
    case 'events':
      return (await import('@daybook/core')).eventTypes
    case 'messages':
      return messageEvents
    case 'settings':
      return settingPaths()
    case 'assignments':
      return settingPaths().map((path) => `${path}=`)
    case 'files':
      return []
    case 'queues':
      return ask(given, env, async (client) => (await client.queues()).map(({ name }) => name))
    case 'types':
      return ask(given, env, async (client) => [...new Set([...Object.keys((await client.depth()).byType), ...Object.keys(await client.breakers.list())])].sort())
    case 'schedules':
      return ask(given, env, async (client) => (await client.schedules.list()).map(({ name }) => name))
    case 'batches':
      return ask(given, env, async (client) => (await client.batches.list()).batches.map(({ id }) => id))
    case 'tokens':
      return ask(given, env, async (client) => (await client.tokens.list()).map(({ name }) => name))
    case 'agents':
      return ask(given, env, async (client) => (await client.agents.list()).map(({ agentId }) => agentId))
  }
}
