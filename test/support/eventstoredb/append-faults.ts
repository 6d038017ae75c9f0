/** Applies a fault to one write: whether it takes effect, and what is answered when. */
import type { Fault } from './faults.js'
import { internal, noLeaderInfo, notLeader, notReady, tooBusy, unavailable, type RpcError } from './rpc-errors.js'
import type { Answer } from './writer.js'

/** The ways in which a call can answer. */
export interface WriteCall {
  /** Writes; called at most once. */
  readonly write: (answer: Answer) => void
  readonly answer: Answer
  readonly timedOut: () => void
  /** Not handled by this node. */
  readonly refuse: (error: RpcError) => void
  readonly fail: (error: RpcError) => void
  /** Answers this write alone with an internal error. */
  readonly failAlone: () => void
  /** Ends the call with OK and without an answer. */
  readonly close: () => void
  readonly drop: () => void
}

const later = (ms: number | undefined, action: () => void): void => {
  setTimeout(action, ms ?? 0)
}

const nothing = (): void => {}

export const runWrite = (call: WriteCall, fault: Fault | undefined): void => {
  const { write, answer } = call
  const commitThen = (after: () => void): void => (fault?.commit === true ? write(after) : after())
  switch (fault?.kind) {
    case undefined:
    case 'too-slow':
      return write(answer)
    case 'drop':
      return commitThen(call.drop)
    case 'no-reply':
      return commitThen(nothing)
    case 'timeout':
      call.timedOut()
      return fault.commit === true ? later(fault.afterMs, () => write(nothing)) : undefined
    case 'duplicate-reply':
      return write((outcome) => {
        answer(outcome)
        later(fault.afterMs, () => answer(outcome))
      })
    case 'late-reply':
      return write((outcome) => later(fault.afterMs, () => answer(outcome)))
    case 'slow':
      return later(fault.afterMs, () => write(answer))
    case 'not-ready':
      return call.refuse(notReady())
    case 'too-busy':
      return call.refuse(tooBusy())
    case 'not-leader':
      return call.refuse(fault.leader === undefined ? noLeaderInfo() : notLeader(fault.leader.host, fault.leader.port))
    case 'close-call':
      return commitThen(call.close)
    case 'unavailable':
      return commitThen(() => call.fail(unavailable()))
    case 'internal':
      return commitThen(() => call.fail(internal('Internal error.')))
    case 'internal-answer':
      return commitThen(call.failAlone)
  }
}
