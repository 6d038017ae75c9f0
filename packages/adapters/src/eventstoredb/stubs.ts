/** The parts of the client and its generated stubs that are used, under short names. The client's version is pinned: see ADR 15. */
import client from '@eventstore/db-client'
import shared from '@eventstore/db-client/generated/shared_pb.js'
import streams from '@eventstore/db-client/generated/streams_pb.js'
import streamsGrpc, { type StreamsClient } from '@eventstore/db-client/generated/streams_grpc_pb.js'
import emptyPb from 'google-protobuf/google/protobuf/empty_pb.js'
import timestampPb from 'google-protobuf/google/protobuf/timestamp_pb.js'

export const { EventStoreDBClient, convertToCommandError } = client
export const { StreamsClient: StreamsStub } = streamsGrpc
export type Streams = StreamsClient
export const { BatchAppendReq, ReadReq } = streams
export const { StreamIdentifier, UUID, WrongExpectedVersion, MaximumAppendSizeExceeded } = shared
export const { Empty } = emptyPb
export const { Timestamp } = timestampPb
export type { BatchAppendResp, ReadResp } from '@eventstore/db-client/generated/streams_pb.js'
