/** The EventStoreDB for the benchmarks: the node of `EVENTSTOREDB_URL`, or the protocol server in a separate process. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Node {
  readonly url: string
  readonly stop: () => Promise<void>
}

export const startNode = async (): Promise<Node> => {
  const real = process.env['EVENTSTOREDB_URL']
  if (real !== undefined && real !== '') return { url: real, stop: () => Promise.resolve() }
  const script = fileURLToPath(new URL('../../scripts/run.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, 'eventstoredb', '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] })
  // The server must also end if a case fails.
  process.once('exit', () => child.kill())
  const said = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (text: Buffer) => resolve(String(text).trim()))
    child.once('exit', () => reject(new Error('the protocol server ended before it was ready')))
  })
  return {
    url: await said,
    stop: async () => {
      child.kill('SIGTERM')
      await once(child, 'exit')
    },
  }
}
