/**
 * The connection to the server. The client finds the leader, follows it when it moves, and reconnects after most failures. When it does not, it is
 * replaced by a new client with its own connection.
 */
import type { CallOptions, Client, Metadata } from '@grpc/grpc-js'
import type { BaseOptions } from '@eventstore/db-client'
import { errorText } from '../error-text.js'
import { StoreError, type StoreTime } from '../store/index.js'
import { backoff } from '@daybook/client/common'
import { NotConnected } from './errors.js'
import { EventStoreDBClient, type Streams, StreamsStub } from './stubs.js'

/** A part of the client that its types hide. */
interface ClientParts {
  readonly getGRPCClient: (stub: typeof StreamsStub, name: string) => Promise<Streams>
  readonly callArguments: (options: BaseOptions, callOptions: CallOptions) => [Metadata, CallOptions]
  readonly handleError: (stub: Client, error: Error) => Promise<void>
}
const partsOf = (client: ReturnType<typeof EventStoreDBClient.connectionString>): ClientParts => ({
  getGRPCClient: (stub, name) => client['getGRPCClient'](stub, name),
  callArguments: (options, callOptions) => client['callArguments'](options, callOptions),
  handleError: (stub, error) => client['handleError'](stub, error),
})

export interface Link {
  readonly stub: Streams
  /** Arguments of a call without a deadline: the caller needs its own time-out. Calls go to the leader, so that reads see all writes. */
  readonly callArguments: () => [Metadata, CallOptions]
}

export interface Connection {
  /** Resolves when connected; rejects with {@link NotConnected}, or with a StoreError after `close`. */
  readonly link: () => Promise<Link>
  readonly succeeded: () => void
  /** Reads the node's clock from the headers of an answer. */
  readonly heard: (head: Metadata) => void
  /** The last time of the node's clock. */
  readonly time: () => StoreTime | undefined
  /** Reports that a call failed. The client may have to find the leader again, or to be replaced. */
  readonly failed: (link: Link, error: unknown) => void
  /** Sends no new calls on this link. Calls in flight may still be answered. */
  readonly abandon: (link: Link) => void
  readonly close: () => Promise<void>
}

export interface ConnectionOptions {
  readonly url: string
  readonly name: string
  readonly connectMs: number
  readonly random: () => number
}

/** After this many failures in a row a client is replaced. */
const failuresMax = 3

/**
 * gRPC shares one TCP connection between clients with equal options, so a new client could get the dead connection of its predecessor. Therefore the
 * keep-alive of each client differs by some milliseconds.
 */
let clients = 0
const keepAliveMs = 10_000
/** The client knows KurrentDB's connection strings only under their old name. */
const urlOfNewClient = (url: string): string =>
  `${url.replace(/^kurrentdb/, 'esdb')}${url.includes('?') ? '&' : '?'}keepAliveTimeout=${keepAliveMs + (clients++ % 10_000)}`

const ready = 2
const transientFailure = 3
const shutDown = 4

const connected = (stub: Streams, connectMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const channel = stub.getChannel()
    const until = Date.now() + connectMs
    const look = (late?: Error): void => {
      const state: number = channel.getConnectivityState(true)
      if (state === ready) resolve()
      else if (late !== undefined) reject(new NotConnected(`no connection within ${connectMs} ms`))
      else if (state === transientFailure || state === shutDown) reject(new NotConnected('the connection was refused'))
      else channel.watchConnectivityState(state, until, look)
    }
    look()
  })

const within = <A>(ms: number, work: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NotConnected(`no node was found within ${ms} ms`)), ms)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

export const openConnection = ({ url, name, connectMs, random }: ConnectionOptions): Connection => {
  const pause = backoff({ firstMs: 20, mostMs: 1_000, random })
  const newClient = (): ClientParts => {
    try {
      return partsOf(EventStoreDBClient.connectionString(urlOfNewClient(url)))
    } catch (error) {
      throw new StoreError('unavailable', `The connection string of ${name} cannot be used: ${(error as Error).message}`, { cause: error })
    }
  }
  let client = newClient()
  let current: Link | undefined
  let opening: Promise<Link> | undefined
  let recovering: Promise<void> | undefined
  let refusal: { readonly until: number; readonly why: string } | undefined
  let failures = 0
  let closed = false
  let time: StoreTime | undefined

  const closeChannel = (old: ClientParts): Promise<void> =>
    within(connectMs, old.getGRPCClient(StreamsStub, 'Streams')).then((stub) => stub.close(), () => undefined)

  const renew = (): void => {
    void closeChannel(client)
    client = newClient()
    current = undefined
    failures = 0
  }

  const open = async (): Promise<Link> => {
    await recovering
    const mine = client
    try {
      const stub = await within(connectMs, mine.getGRPCClient(StreamsStub, 'Streams'))
      await connected(stub, connectMs)
      if (closed) throw closedError()
      pause.reset()
      refusal = undefined
      return (current = { stub, callArguments: () => mine.callArguments({ requiresLeader: true }, { deadline: Infinity }) })
    } catch (error) {
      if (closed) throw closedError()
      const why = `${name}: ${errorText(error)}`
      refusal = { until: performance.now() + pause.next(), why }
      if (mine === client) renew()
      throw new NotConnected(why)
    }
  }

  const isReady = ({ stub }: Link): boolean => (stub.getChannel().getConnectivityState(false) as number) === ready

  return {
    link: async () => {
      if (closed) throw closedError()
      if (current !== undefined && isReady(current)) return current
      if (refusal !== undefined && performance.now() < refusal.until) throw new NotConnected(refusal.why)
      return (opening ??= open().finally(() => (opening = undefined)))
    },
    succeeded: () => {
      failures = 0
    },
    heard: (head) => {
      const [date] = head.get('date')
      const said = Date.parse(String(date))
      if (!Number.isNaN(said)) time = { time: said, heardAt: performance.now() }
    },
    time: () => time,
    failed: (link, error) => {
      failures += 1
      if (link !== current) return
      if (failures >= failuresMax) return renew()
      current = undefined
      if (error instanceof Error) recovering = client.handleError(link.stub, error).catch(() => undefined)
    },
    abandon: (link) => {
      if (link === current) renew()
    },
    close: async () => {
      closed = true
      await opening?.catch(() => undefined)
      await closeChannel(client)
    },
  }
}

export const closedError = (): StoreError => new StoreError('closed', 'The store has been closed: open it again.')
