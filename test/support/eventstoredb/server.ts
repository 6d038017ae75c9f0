/**
 * A test server that speaks EventStoreDB's protocol with the unmodified client. For streams, it
 * follows the rules of a real 23.10 node. Faults can be injected.
 */
import type { EventEmitter } from 'node:events'
import { createServer, type AddressInfo, type Server as Listener, type Socket } from 'node:net'
import { Server, ServerCredentials, type UntypedServiceImplementation } from '@grpc/grpc-js'
import { append } from './append-service.js'
import { batchAppend } from './batch-service.js'
import { Cluster, type Member } from './cluster.js'
import type { Context, Features, Limits, Subscribed } from './context.js'
import { remove } from './delete-service.js'
import { Faults } from './faults.js'
import { getSupportedMethods } from './features-service.js'
import { gossip } from './gossip-service.js'
import { read } from './read-service.js'
import { openStore, type Store } from './store.js'
import { featuresService, gossipService, streamsService } from './stubs.js'

export interface ServerOptions {
  readonly host?: string
  /** 0, the default: any free port, kept over restarts. */
  readonly port?: number
  /** The folder of the log. Default: the log is in memory. */
  readonly dir?: string
  /** A store that other nodes of the simulated cluster share. */
  readonly store?: Store
  readonly cluster?: Cluster
  readonly faults?: Faults
  readonly features?: Features
  readonly limits?: Partial<Limits>
}

const limitsOf23: Limits = { appendBytesMax: 1_048_576, writeTimeoutMs: 2_000, unreadEventsMax: 64 }

type Handler = (...call: ReadonlyArray<never>) => void

/** 16 MiB less the overhead of a log record. */
const messageBytesMax = 16 * 1024 * 1024 - 10_000

/** Calls at once on a connection: Kestrel's default, which a real node leaves as it is. A client lets further ones wait. */
const callsMax = 100

export class EventStoreServer {
  readonly faults: Faults
  readonly cluster: Cluster
  private readonly limits: Limits
  private readonly sockets = new Map<string, Socket>()
  private readonly held = new Set<Socket>()
  private currentStore: Store
  private listener: Listener | undefined
  private grpc: Server | undefined
  private isHalfOpen = false
  private joined: Member | undefined
  /** Number of calls, by name of the RPC. */
  readonly calls = new Map<string, number>()
  /** Requested subscriptions to single streams. */
  readonly subscriptions: Array<Subscribed> = []
  /** Calls that are neither completed nor cancelled. */
  openCalls = 0
  /** The answer of ServerFeatures. A change affects clients that ask again. */
  features: Features
  port: number

  private constructor(readonly options: ServerOptions, store: Store) {
    this.currentStore = store
    this.faults = options.faults ?? new Faults()
    this.cluster = options.cluster ?? new Cluster()
    this.features = options.features ?? 'all'
    this.port = options.port ?? 0
    this.limits = { ...limitsOf23, ...options.limits }
  }

  static readonly start = async (options: ServerOptions = {}): Promise<EventStoreServer> => {
    const store = options.store ?? await openStore(options.dir === undefined ? {} : { dir: options.dir })
    const server = new EventStoreServer(options, store)
    await server.start()
    return server
  }

  get host(): string {
    return this.options.host ?? '127.0.0.1'
  }

  get store(): Store {
    return this.currentStore
  }

  get member(): Member {
    if (this.joined === undefined) throw new Error('the server has not been started')
    return this.joined
  }

  /** Connection string of this single node. */
  get url(): string {
    return `esdb://${this.host}:${this.port}?tls=false`
  }

  /** Starts listening. After `stop`: with the same port and data. */
  readonly start = async (): Promise<void> => {
    if (this.listener !== undefined) return
    const grpc = new Server({ 'grpc.max_receive_message_length': messageBytesMax, 'grpc.max_send_message_length': -1, 'grpc.max_concurrent_streams': callsMax })
    this.serve(grpc)
    const injector = grpc.createConnectionInjector(ServerCredentials.createInsecure())
    const listener = createServer({ noDelay: true }, (socket) => {
      const peer = `${socket.remoteAddress ?? ''}:${socket.remotePort ?? 0}`
      this.sockets.set(peer, socket)
      socket.on('error', () => {})
      socket.once('close', () => this.sockets.delete(peer))
      if (this.isHalfOpen) this.held.add(socket)
      else injector.injectConnection(socket)
    })
    await new Promise<void>((resolve, reject) => {
      listener.once('error', reject)
      listener.listen(this.port, this.host, resolve)
    })
    this.port = (listener.address() as AddressInfo).port
    this.joined = this.cluster.join(this.host, this.port)
    this.currentStore.onFatal = () => void this.stop()
    this.listener = listener
    this.grpc = grpc
  }

  private serve(grpc: Server): void {
    const context: Context = {
      store: this.currentStore, faults: this.faults, cluster: this.cluster, limits: this.limits,
      self: () => this.member,
      features: () => this.features,
      subscribed: (subscription) => this.subscriptions.push(subscription),
      drop: (peer) => this.sockets.get(peer)?.resetAndDestroy(),
    }
    const implementation = (handlers: Readonly<Record<string, Handler>>): UntypedServiceImplementation =>
      Object.fromEntries(Object.entries(handlers).map(([rpc, handle]) => [rpc, (...call: ReadonlyArray<never>) => {
        this.calls.set(rpc, (this.calls.get(rpc) ?? 0) + 1)
        this.watch(call[0] as unknown as EventEmitter)
        handle(...call)
      }])) as object as UntypedServiceImplementation
    grpc.addService(streamsService, implementation({
      read: read(context),
      append: append.bind(undefined, context),
      batchAppend: batchAppend.bind(undefined, context),
      delete: remove(context, 'delete'),
      tombstone: remove(context, 'tombstone'),
    }))
    grpc.addService(featuresService, implementation({ getSupportedMethods: getSupportedMethods(context) }))
    grpc.addService(gossipService, implementation({ read: gossip(context) }))
  }

  private watch(call: EventEmitter): void {
    let open = true
    const over = (): void => {
      if (open) this.openCalls -= 1
      open = false
    }
    this.openCalls += 1
    for (const end of ['finish', 'cancelled', 'error', 'close']) call.on(end, over)
  }

  /** Closes every connection and stops listening: new connections are refused. The data stays. */
  readonly stop = async (): Promise<void> => {
    const listener = this.listener
    if (listener === undefined) return
    this.listener = undefined
    if (this.joined !== undefined) this.joined.alive = false
    const closed = new Promise<void>((resolve) => listener.close(() => resolve()))
    this.dropConnections()
    this.grpc?.forceShutdown()
    await closed
  }

  /** Stops and starts. The cache of recent ids is empty then. */
  readonly restart = async (): Promise<void> => {
    await this.stop()
    if (this.options.dir === undefined || this.options.store !== undefined) this.currentStore.log.forget()
    else {
      await this.currentStore.close()
      this.currentStore = await openStore({ dir: this.options.dir })
    }
    await this.start()
  }

  readonly dropConnections = (): void => {
    for (const socket of [...this.sockets.values()]) socket.resetAndDestroy()
    this.held.clear()
  }

  /** Accepts connections but never answers on them; open ones are closed. */
  readonly halfOpen = (on: boolean): void => {
    this.isHalfOpen = on
    this.dropConnections()
  }

  readonly close = async (): Promise<void> => {
    await this.stop()
    await this.currentStore.close()
  }
}
