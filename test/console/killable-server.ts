/** A server of its own process on the seeded log, which is killed as `kill -9` does, and started again on the same port and data. */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { ended, start } from '../cli/program.js'
import { inTime } from '../support/in-time.js'
import { adminToken, type FleetTokens, logFile } from './fleet.js'
import { seededFolder } from './seeded-folder.js'
import { tablesShowAll } from './tables-show-all.js'

export interface KillableServer {
  readonly url: string
  readonly tokens: FleetTokens
  readonly admin: DaybookClient
  /** Resolves when the process is gone. */
  readonly kill: () => Promise<void>
  /** The process stands still and keeps its connections, as a machine does that hangs; `thaw`: it goes on. */
  readonly freeze: () => void
  readonly thaw: () => void
  readonly start: () => Promise<void>
  /** Ends it for good. */
  readonly remove: () => Promise<void>
}

const open = async (dataDir: string, port: string) => {
  const child = start(['serve', '--port', port, '--data', dataDir, '--store', `sqlite:${logFile(dataDir)}`], { DAYBOOK_TOKEN: adminToken })
  const end = ended(child)
  let said = ''
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text: string) => {
      said += text
      const [found] = /http:\/\/[^\s"]+/.exec(said) ?? []
      if (found !== undefined) resolve(found)
    })
    void end.then(({ code, err }) => reject(new Error(`the server ended with ${code}: ${err}`)), reject)
  })
  return { child, url: await inTime('the server is ready', url) }
}

export const startKillableServer = async (): Promise<KillableServer> => {
  const { dataDir, tokens } = await seededFolder()
  const first = await open(dataDir, '0')
  const { url } = first
  let { child } = first
  const admin = createClient({ url, token: adminToken })
  await tablesShowAll(admin)
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'close')
  }
  return {
    url,
    tokens,
    admin,
    kill,
    freeze: () => void child.kill('SIGSTOP'),
    thaw: () => void child.kill('SIGCONT'),
    start: async () => {
      child = (await open(dataDir, new URL(url).port)).child
      await tablesShowAll(admin)
    },
    remove: async () => {
      await admin.close()
      await kill()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
