/** `npm run eventstoredb -- --port 2113 [--data DIR] [--control PORT]` starts the server. */
import { parseArgs } from 'node:util'
import { serveControl } from './control.js'
import { EventStoreServer } from './server.js'

const usage = 'npm run eventstoredb -- [--port 2113] [--host 127.0.0.1] [--data DIR] [--control PORT]'

const { values: flags } = parseArgs({
  options: {
    port: { type: 'string', default: '2113' },
    host: { type: 'string', default: '127.0.0.1' },
    data: { type: 'string' },
    control: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
})
if (flags.help) {
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}

const server = await EventStoreServer.start({
  port: Number(flags.port),
  host: flags.host,
  ...(flags.data === undefined ? {} : { dir: flags.data }),
})
const control = flags.control === undefined ? undefined : await serveControl(server, Number(flags.control))
process.stdout.write(`${server.url}${control === undefined ? '' : ` control http://127.0.0.1:${control.port}`}\n`)

const end = async (): Promise<void> => {
  await control?.close()
  await server.close()
  process.exit(0)
}
process.once('SIGINT', () => void end())
process.once('SIGTERM', () => void end())
