/** ServerFeatures: the list of 23.10.8. */
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js'
import type { Context, Features } from './context.js'
import { message, text } from './protobuf.js'
import { internal, unavailable, unimplemented } from './rpc-errors.js'

export const serverVersion = '23.10.8'

const persistent = ['stream', 'all']
const methods: ReadonlyArray<readonly [service: string, methods: Readonly<Record<string, ReadonlyArray<string>>>]> = [
  ['redaction.redaction', { geteventpositions: [], switchchunks: [] }],
  ['persistent_subscriptions.persistentsubscriptions', {
    create: persistent, update: persistent, delete: persistent, read: persistent,
    getinfo: persistent, replayparked: persistent, list: persistent, restartsubsystem: persistent,
  }],
  ['users.users', {
    create: [], update: [], delete: [], disable: [], enable: [], details: [], changepassword: [], resetpassword: [],
  }],
  ['streams.streams', { read: ['position', 'events'], append: [], delete: [], tombstone: [], batchappend: ['deadline_duration'] }],
  ['operations.operations', {
    startscavenge: [], stopscavenge: [], shutdown: [], mergeindexes: [], resignnode: [], setnodepriority: [],
    restartpersistentsubscriptions: [],
  }],
  ['gossip.gossip', { read: [] }],
  ['monitoring.monitoring', { stats: [] }],
  ['server_features.serverfeatures', { getsupportedmethods: [] }],
]

const supported = (features: Features): Buffer => Buffer.concat([
  ...methods.flatMap(([service, list]) => Object.entries(list)
    .filter(([name]) => features !== 'no-batch' || name !== 'batchappend')
    .map(([name, options]) =>
      message(1, text(1, name), text(2, `event_store.client.${service}`), ...options.map((option) => text(3, option))))),
  text(2, serverVersion),
])

export const getSupportedMethods = (context: Context) => (call: ServerUnaryCall<unknown, Buffer>, done: sendUnaryData<Buffer>): void => {
  const features = context.features()
  const answer = (): void => (features === 'unimplemented' ? done(unimplemented()) : done(null, supported(features)))
  const fault = context.faults.take('features', '')
  switch (fault?.kind) {
    case 'drop': return context.drop(call.getPeer())
    case 'no-reply': return
    case 'unavailable': return done(unavailable())
    case 'internal': return done(internal('Internal error.'))
    case 'slow':
    case 'late-reply': {
      setTimeout(answer, fault.afterMs)
      return
    }
    default: return answer()
  }
}
