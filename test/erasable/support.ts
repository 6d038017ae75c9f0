/** A server whose queue `q` is erasable, with everything that makes copies of tasks. */
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { type Claim, createClient, type DaybookClient, type Json } from '@daybook/adapters/client'
import { type RunningServer, serve } from '@daybook/adapters/serve'

export const token = 'dbk_token-of-the-erasable-tests'

export interface Started {
  readonly server: RunningServer
  readonly client: DaybookClient
  readonly stop: () => Promise<void>
}

export const logFile = (dir: string): string => join(dir, 'daybook.sqlite')

export const startServer = async (dir: string): Promise<Started> => {
  const server = await serve({
    host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: logFile(dir), sharing: 'exclusive' }, auth: 'tokens', token, queueFilesDir: join(dir, 'queues'),
  })
  const client = createClient({ url: server.url, token, queue: 'q' })
  return {
    server,
    client,
    stop: async () => {
      await client.close()
      await server.close()
    },
  }
}

/** Everything in the files of a folder: as it is, and unpacked if it is packed. The folder may be in use: it is read again if a file was renamed meanwhile. */
export const bytesIn = (dir: string): ReadonlyMap<string, Buffer> => {
  for (let tries = 1; ; tries++) {
    try {
      return bytesNow(dir)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || tries === triesMax) throw error
    }
  }
}
const triesMax = 100

const bytesNow = (dir: string): ReadonlyMap<string, Buffer> => {
  const found = new Map<string, Buffer>()
  for (const name of readdirSync(dir, { recursive: true }) as ReadonlyArray<string>) {
    const path = join(dir, name)
    if (!statSync(path).isFile()) continue
    const bytes = readFileSync(path)
    found.set(name, bytes)
    if (bytes[0] === 0x1f && bytes[1] === 0x8b) found.set(`${name} (unpacked)`, gunzipSync(bytes))
  }
  return found
}

/** The files in which a text is, in letters of either case: an index of words has them in small ones. */
export const filesWith = (dir: string, text: string): ReadonlyArray<string> =>
  [...bytesIn(dir)].filter(([, all]) => all.toString('latin1').toLowerCase().includes(text.toLowerCase())).map(([name]) => name)

export const claimOne = async (client: DaybookClient): Promise<Claim> => {
  const [claim] = await client.claim({ agentId: 'ann' })
  if (claim === undefined) throw new Error('nothing was claimed')
  return claim
}

export const held = ({ lease }: Claim): { readonly agentId: string; readonly token: number } => ({ agentId: 'ann', token: lease.token })

/** One task through everything that an agent or a producer can write about it: `secret` is in each text. */
export const liveThrough = async (client: DaybookClient, id: string, secret: string, type = 'letter'): Promise<void> => {
  const said = (what: string): string => `${what} ${secret}`
  await client.enqueue({ id, type, payload: { to: said('payload') }, description: said('description'), metadata: { note: said('metadata') }, backoffSeconds: 0 })
  await client.amend(id, { payload: { to: said('amended') } }, 'a new address')
  const first = await claimOne(client)
  await client.heartbeat(id, { ...held(first), progress: { at: said('progress') }, checkpoint: { done: said('checkpoint') } })
  await client.fail(id, { ...held(first), error: { message: said('error'), stack: said('stack') } })
  const second = await claimOne(client)
  await client.park(id, { ...held(second), callbackKey: `answer-${id}`, timeoutSeconds: 600, checkpoint: { parked: said('parking') } })
  await client.callback(`answer-${id}`, { text: said('callback') })
  const third = await claimOne(client)
  await client.complete(id, { ...held(third), result: { output: said('output'), decisionReport: said('report'), errors: [said('finding')] } as Json as { output: Json } })
}
/** What each of them wrote. */
export const written = ['payload', 'description', 'metadata', 'amended', 'progress', 'checkpoint', 'error', 'stack', 'parking', 'callback', 'output', 'report', 'finding'] as const
