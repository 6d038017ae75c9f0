/** Delete (soft) and Tombstone (for ever). */
import type { ServerUnaryCall, sendUnaryData } from '@grpc/grpc-js'
import { deletedAt } from './append-replies.js'
import { runWrite } from './append-faults.js'
import { givenUp, refusal, type Context } from './context.js'
import { BadRequest, expectedOf, expectedVersion, streamName, understood, type Stated } from './requests.js'
import { internal, invalidArgument, streamDeleted, thrown, timedOut, wrongExpectedVersion } from './rpc-errors.js'
import { streams, type DeleteReq, type TombstoneReq } from './stubs.js'

const { ExpectedStreamRevisionCase } = streams.DeleteReq.Options

export const remove = (context: Context, how: 'delete' | 'tombstone') =>
  (call: ServerUnaryCall<DeleteReq | TombstoneReq, Buffer>, done: sendUnaryData<Buffer>): void => {
    if (givenUp(call)) return
    const options = call.request.getOptions()
    const stream = streamName(options?.getStreamIdentifier())
    let expected: Stated | undefined
    try {
      const isRevision = Number(options?.getExpectedStreamRevisionCase()) === Number(ExpectedStreamRevisionCase.REVISION)
      expected = options && expectedOf(options, isRevision ? options.getRevision() : undefined)
    } catch (error) {
      if (!(error instanceof BadRequest)) throw error
      return done(thrown())
    }
    if (expected === undefined) return done(invalidArgument("'None' is not a valid ExpectedStreamRevisionOneofCase"))
    if (stream === '') return done(thrown())
    const refused = refusal(context, call.metadata)
    if (refused !== undefined) return done(refused)
    runWrite({
      write: (answer) => context.store.writer[how](stream, understood(expected), answer),
      answer: (outcome) => {
        switch (outcome.kind) {
          case 'written': return done(null, deletedAt(outcome.position))
          case 'wrong_revision': return done(wrongExpectedVersion(stream, expectedVersion(expected), outcome.actual))
          case 'deleted': return done(streamDeleted(stream))
        }
      },
      timedOut: () => done(timedOut('Commit phase timeout.')),
      refuse: done,
      fail: done,
      failAlone: () => done(internal('Internal error.')),
      close: () => done(null, Buffer.alloc(0)),
      drop: () => context.drop(call.getPeer()),
    }, context.faults.take('delete', stream))
  }
