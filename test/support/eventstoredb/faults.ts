/**
 * Faults to inject: rules from a test, or random faults from a seed. Rules are plain data, so that
 * they can also be sent to a server in another process.
 */
import { oneOf, randomOf, type Random } from '../random.js'

export type FaultPoint = 'append' | 'delete' | 'read' | 'subscribe' | 'features' | 'gossip'

export type FaultKind =
  /** The connection is closed without a reply, before the write takes effect or (with `commit`) after it. */
  | 'drop'
  /** There is never an answer; the write takes effect if `commit`. */
  | 'no-reply'
  /** The server answers that it timed out; with `commit` the write still takes effect, after `afterMs`. */
  | 'timeout'
  /** The reply is sent twice, the second time after `afterMs` (batch appends); each event is sent twice (reads and subscriptions). */
  | 'duplicate-reply'
  /** The write takes effect at once, the reply comes after `afterMs`. */
  | 'late-reply'
  /** Everything happens `afterMs` later. */
  | 'slow'
  /** "Server Is Not Ready": electing, starting, stopping. */
  | 'not-ready'
  | 'too-busy'
  /** "Only the leader does this", with the leader's address if `leader` is given. */
  | 'not-leader'
  /** The call ends with OK and without a (further) reply. */
  | 'close-call'
  /** The call fails: UNAVAILABLE. */
  | 'unavailable'
  /** The call fails: INTERNAL. */
  | 'internal'
  /** Only this write is answered with an internal error; others in the same call go on (batch appends; otherwise like `internal`). */
  | 'internal-answer'
  /** A subscription ends because its reader did not keep up. */
  | 'too-slow'

export interface Fault {
  readonly kind: FaultKind
  /** Whether the write takes effect. Default: no. */
  readonly commit?: boolean
  readonly afterMs?: number
  /** Reads and subscriptions: number of events sent before the fault. */
  readonly afterEvents?: number
  readonly leader?: { readonly host: string; readonly port: number }
}

export interface FaultRule {
  readonly on: FaultPoint
  readonly fault: Fault
  /** Only for this stream; a trailing `*` matches any rest. */
  readonly stream?: string
  /** Number of calls without the fault before the first with it. */
  readonly skip?: number
  /** Number of calls with the fault. Default: 1. */
  readonly times?: number
}

export interface RandomFaults {
  readonly seed: number
  /** Share of the calls that fail, from 0 to 1. */
  readonly rate: number
  readonly choices: ReadonlyArray<{ readonly on: FaultPoint; readonly fault: Fault }>
}

export interface FiredFault {
  readonly on: FaultPoint
  readonly stream: string
  readonly fault: Fault
}

interface ActiveRule {
  readonly rule: FaultRule
  skip: number
  times: number
}

const concerns = (rule: FaultRule, on: FaultPoint, stream: string): boolean => {
  if (rule.on !== on) return false
  if (rule.stream === undefined) return true
  return rule.stream.endsWith('*') ? stream.startsWith(rule.stream.slice(0, -1)) : stream === rule.stream
}

export class Faults {
  private rules: Array<ActiveRule> = []
  private randomFaults: (RandomFaults & { readonly next: Random }) | undefined
  readonly fired: Array<FiredFault> = []

  /** Adds rules. The first rule that matches a call applies. */
  readonly script = (...rules: ReadonlyArray<FaultRule>): void => {
    this.rules.push(...rules.map((rule) => ({ rule, skip: rule.skip ?? 0, times: rule.times ?? 1 })))
  }

  /** Injects random faults until {@link clear}. The same seed and the same order of calls give the same faults. */
  readonly random = (faults: RandomFaults): void => {
    this.randomFaults = { ...faults, next: randomOf(faults.seed) }
  }

  readonly clear = (): void => {
    this.rules = []
    this.randomFaults = undefined
  }

  /** The fault of this call, if any. */
  readonly take = (on: FaultPoint, stream: string): Fault | undefined => {
    const fault = this.scripted(on, stream) ?? this.drawn(on)
    if (fault !== undefined) this.fired.push({ on, stream, fault })
    return fault
  }

  private scripted(on: FaultPoint, stream: string): Fault | undefined {
    const active = this.rules.find(({ rule }) => concerns(rule, on, stream))
    if (active === undefined) return undefined
    if (active.skip > 0) {
      active.skip -= 1
      return undefined
    }
    active.times -= 1
    if (active.times <= 0) this.rules = this.rules.filter((other) => other !== active)
    return active.rule.fault
  }

  private drawn(on: FaultPoint): Fault | undefined {
    if (this.randomFaults === undefined) return undefined
    const { next, rate, choices } = this.randomFaults
    const fitting = choices.filter((choice) => choice.on === on)
    return fitting.length > 0 && next() < rate ? oneOf(next, fitting).fault : undefined
  }
}
