/** The client's generated stubs, so that the server speaks exactly the client's protocol. */
import gossipGrpc from '@eventstore/db-client/generated/gossip_grpc_pb.js'
import featuresGrpc from '@eventstore/db-client/generated/serverfeatures_grpc_pb.js'
import streamsGrpc from '@eventstore/db-client/generated/streams_grpc_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import shared from '@eventstore/db-client/generated/shared_pb.js'

export { streams, shared }
export type {
  AppendReq, BatchAppendReq, DeleteReq, ReadReq, TombstoneReq,
} from '@eventstore/db-client/generated/streams_pb.js'
export type { StreamIdentifier, UUID } from '@eventstore/db-client/generated/shared_pb.js'

/** Answers are already encoded. */
const encoded = (answer: Buffer): Buffer => answer

type Definitions<S> = { readonly [K in keyof S]: S[K] }

const answeringBytes = <S extends object>(service: Definitions<S>): S =>
  Object.fromEntries(Object.entries(service).map(([name, method]) =>
    [name, { ...(method as object), responseSerialize: encoded }])) as S

export const streamsService = answeringBytes(streamsGrpc.StreamsService)
export const featuresService = answeringBytes(featuresGrpc.ServerFeaturesService)
export const gossipService = answeringBytes(gossipGrpc.GossipService)
