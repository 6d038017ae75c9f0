/** The node that tests of the adapter run against. */
import { EventStoreServer } from './server.js'

export interface TestNode {
  readonly url: string
  /** For the titles of tests and the first line of a run. */
  readonly what: string
  readonly close: () => Promise<void>
}

/** The node that `EVENTSTOREDB_URL` names, or else a new protocol server. Prints which. */
export const eventStoreDbUrl = async (): Promise<TestNode> => {
  const real = process.env['EVENTSTOREDB_URL']
  if (real !== undefined && real !== '') {
    const what = `the node at ${real.replace(/\/\/[^/@]*@/, '//')}`
    process.stderr.write(`EventStoreDB: tested against ${what}\n`)
    return { url: real, what, close: () => Promise.resolve() }
  }
  const server = await EventStoreServer.start()
  process.stderr.write('EventStoreDB: tested against the protocol server; EVENTSTOREDB_URL names a real node\n')
  return { url: server.url, what: 'the protocol server', close: server.close }
}
