/** The unmodified client, and helpers for its tests. */
import { randomUUID } from 'node:crypto'
import { EventStoreDBClient, jsonEvent, type AppendResult, type JSONEventType, type ResolvedEvent } from '@eventstore/db-client'
import { afterEach } from 'vitest'
import { EventStoreServer, type ServerOptions } from '../support/eventstoredb/server.js'

const opened: Array<() => Promise<unknown>> = []

/** Ends the servers and clients of each test of the calling file. */
export const useServers = (): void => {
  afterEach(async () => {
    for (const close of opened.splice(0).reverse()) await close()
  })
}

export const startServer = async (options: ServerOptions = {}): Promise<EventStoreServer> => {
  const server = await EventStoreServer.start(options)
  opened.push(server.close)
  return server
}

export const connect = (url: string): EventStoreDBClient => {
  const client = EventStoreDBClient.connectionString(url)
  // After some faults `dispose` never ends.
  opened.push(() => after(200, client.dispose()))
  return client
}

/** A server, and a client whose batch call is already open. */
export const served = async (options: ServerOptions = {}): Promise<{ readonly server: EventStoreServer; readonly client: EventStoreDBClient }> => {
  const server = await startServer(options)
  const client = connect(server.url)
  await client.appendToStream('warm-up', [event('warm')])
  return { server, client }
}

export const idOf = (label: string): string => {
  const digits = Buffer.from(label.padEnd(16, '.')).toString('hex').slice(0, 32)
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

export const event = (label: string) => jsonEvent({ id: idOf(label), type: 'tested', data: { label } })

export const events = (count: number, prefix = 'e') => Array.from({ length: count }, (_, i) => event(`${prefix}${i}`))

/** With its own credentials, a call uses the plain Append, which has a deadline. */
export const plain = { credentials: { username: 'admin', password: 'changeit' } }

export const labels = async (reading: AsyncIterable<ResolvedEvent<JSONEventType>>): Promise<ReadonlyArray<string>> => {
  const list: Array<string> = []
  for await (const { event: read } of reading) list.push((read?.data as { label: string } | undefined)?.label ?? '-')
  return list
}

export const read = (client: EventStoreDBClient, stream: string): Promise<ReadonlyArray<string>> => labels(client.readStream(stream))

export interface Failure {
  readonly name: string
  readonly type?: string
  readonly code?: number
  readonly message: string
}

export const failure = async (call: Promise<unknown>): Promise<Failure> => {
  try {
    await call
  } catch (error) {
    const { type, code, message } = error as Failure
    return { name: (error as Error).constructor.name, message, ...(type === undefined ? {} : { type }), ...(code === undefined ? {} : { code }) }
  }
  throw new Error('the call succeeded')
}

export type Settled = 'pending' | 'succeeded' | 'failed'

/** The state of a call after `ms`. */
export const after = async (ms: number, call: Promise<unknown>): Promise<Settled> =>
  Promise.race([
    call.then(() => 'succeeded' as const, () => 'failed' as const),
    new Promise<'pending'>((resolve) => setTimeout(resolve, ms, 'pending')),
  ])

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export const until = async (condition: () => boolean | Promise<boolean>, ms = 30_000): Promise<void> => {
  for (const end = Date.now() + ms; !(await condition());) {
    if (Date.now() > end) throw new Error('it did not happen in time')
    await sleep(10)
  }
}

/** Repeats one append with the same ids and revision until it succeeds. */
export const persist = async (client: EventStoreDBClient, stream: string, label: string, expectedRevision: bigint | 'no_stream'): Promise<AppendResult> => {
  for (;;) {
    try {
      return await client.appendToStream(stream, [event(label)], { expectedRevision, ...plain, deadline: 5_000 })
    } catch {
      await sleep(20)
    }
  }
}

export const fresh = (): string => `s-${randomUUID().slice(0, 8)}`
