/** Sends messages to a reader with back-pressure, and applies faults to them. */
import type { ServerWritableStream } from '@grpc/grpc-js'
import type { Context } from './context.js'
import type { Fault } from './faults.js'
import { internal, noLeaderInfo, notLeader, notReady, onceBegun, timedOut, tooBusy, unavailable, type RpcError } from './rpc-errors.js'
import type { ReadReq } from './stubs.js'

export type ReadCall = ServerWritableStream<ReadReq, Buffer>

export class Outbox {
  private readonly waiting: Array<Buffer> = []
  private blockedSinceMs: number | undefined
  private eventsLeft: number
  private resume: (() => void) | undefined
  private begun = false
  /** No more messages are sent: the call has ended, was cancelled, or has gone silent. */
  over = false
  onOver: () => void = () => {}

  constructor(readonly context: Context, readonly call: ReadCall, readonly fault: Fault | undefined) {
    this.eventsLeft = fault === undefined ? Infinity : (fault.afterEvents ?? 0)
    call.on('cancelled', () => this.finish())
    call.on('error', () => this.finish())
    call.on('drain', () => this.drain())
    if (fault?.afterEvents === undefined) this.misfire()
  }

  /** Messages that the transport has not taken yet. */
  get unsent(): number {
    return this.waiting.length
  }

  /** How long the transport has taken no message. */
  readonly blockedMs = (): number => (this.blockedSinceMs === undefined ? 0 : Date.now() - this.blockedSinceMs)

  readonly event = (message: Buffer): void => {
    if (this.eventsLeft <= 0) this.misfire()
    this.eventsLeft -= 1
    this.push(message)
    if (this.fault?.kind === 'duplicate-reply') this.push(message)
  }

  readonly push = (message: Buffer): void => {
    if (this.over) return
    this.begun = true
    if (this.blockedSinceMs !== undefined) this.waiting.push(message)
    else if (!this.call.write(message)) this.blockedSinceMs = Date.now()
  }

  /** Resolves when there is room. */
  readonly room = (): Promise<void> | undefined =>
    this.over || this.blockedSinceMs === undefined ? undefined : new Promise((resolve) => (this.resume = resolve))

  readonly end = (): void => {
    if (this.over) return
    this.flush()
    this.finish()
    this.call.end()
  }

  readonly fail = (error: RpcError): void => {
    if (this.over) return
    this.flush()
    this.finish()
    this.call.emit('error', this.begun ? onceBegun(error) : error)
  }

  /** Sends the queued messages before the end. */
  private flush(): void {
    for (const message of this.waiting.splice(0)) this.call.write(message)
  }

  private drain(): void {
    this.blockedSinceMs = undefined
    const waiting = this.waiting.splice(0)
    for (const message of waiting) this.push(message)
    if (this.blockedSinceMs === undefined) this.wake()
  }

  private wake(): void {
    const resume = this.resume
    this.resume = undefined
    resume?.()
  }

  private finish(): void {
    if (this.over) return
    this.over = true
    this.onOver()
    this.wake()
  }

  private misfire(): void {
    const { fault } = this
    switch (fault?.kind) {
      case undefined:
      case 'duplicate-reply':
      case 'slow':
      case 'late-reply':
        return
      case 'drop':
        this.finish()
        return this.context.drop(this.call.getPeer())
      case 'no-reply':
        return this.finish()
      case 'close-call':
        return this.end()
      case 'timeout':
        return this.fail(timedOut('Commit phase timeout.'))
      case 'too-slow':
        return this.fail(timedOut('Consumer too slow to handle event while live. Client resubscription required.'))
      case 'not-ready':
        return this.fail(notReady())
      case 'too-busy':
        return this.fail(tooBusy())
      case 'not-leader':
        return this.fail(fault.leader === undefined ? noLeaderInfo() : notLeader(fault.leader.host, fault.leader.port))
      case 'unavailable':
        return this.fail(unavailable())
      case 'internal':
      case 'internal-answer':
        return this.fail(internal('Internal error.'))
    }
  }
}
