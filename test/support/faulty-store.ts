/**
 * Wraps a store and injects faults: it refuses, hangs, gives no answer, or answers late. The faults come from a script, one per append, or from a
 * random swarm.
 */
import { type AppendError, type EventStore, StoreError } from '@daybook/adapters/store'
import * as E from 'fp-ts/lib/Either.js'
import { below, oneOf, type Random } from './random.js'

export type Fault =
  | { readonly kind: 'none' }
  /** Disk full: nothing written. */
  | { readonly kind: 'unavailable' }
  | { readonly kind: 'unknown, written' }
  | { readonly kind: 'unknown, lost' }
  /** Not in the log when the unknown outcome is reported. It is appended `ms` later, if its revision still fits then. */
  | { readonly kind: 'unknown, written late'; readonly ms: number }
  | { readonly kind: 'written late'; readonly ms: number }
  | { readonly kind: 'acknowledged late'; readonly ms: number }
  /** Written at once, and acknowledged when this promise is settled. */
  | { readonly kind: 'acknowledged after'; readonly wait: Promise<unknown> }
  /** Another writer appends first. */
  | { readonly kind: 'after'; readonly run: () => Promise<unknown> }

export type FaultPlan = () => Fault

export interface FaultyStore extends EventStore {
  /** Faults of the next appends. After these, `plan` applies. */
  readonly script: Array<Fault>
  /** Number of events of each requested append, in order. */
  readonly appends: ReadonlyArray<number>
  /** Number of appends without an answer so far: now, and the maximum. */
  readonly open: () => { readonly now: number; readonly most: number }
  /** Number of the next reads that fail. */
  failReads: number
  /** Holds all appends back until the returned function is called. */
  readonly hold: () => () => void
  /** Appends are written, but not acknowledged until the returned function is called. */
  readonly holdAnswers: () => () => void
  /** No faults from now on. */
  readonly heal: () => void
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const unknown: AppendError = { _tag: 'OutcomeUnknown', reason: 'connection lost' }
const full: AppendError = { _tag: 'Unavailable', reason: 'disk full' }

export const faultyStore = (inner: EventStore, plan: FaultPlan = () => ({ kind: 'none' })): FaultyStore => {
  const script: Array<Fault> = []
  const appends: Array<number> = []
  let draw = plan
  let opened = 0
  let most = 0
  let beforeWrite: Promise<void> | undefined
  let beforeAnswer: Promise<void> | undefined

  const gate = (set: (gate: Promise<void> | undefined) => void) => (): (() => void) => {
    let release: () => void = () => undefined
    set(new Promise((resolve) => (release = resolve)))
    return () => {
      set(undefined)
      release()
    }
  }

  const reading = (): void => {
    if (store.failReads <= 0) return
    store.failReads--
    throw new StoreError('unavailable', 'reading fails now')
  }

  const faulty = async (fault: Fault, stream: string, write: ReturnType<EventStore['append']>, expected: unknown) => {
    await beforeWrite
    switch (fault.kind) {
      case 'none':
        return write()
      case 'unavailable':
        return E.left(full)
      case 'unknown, written':
        await write()
        return E.left(unknown)
      case 'unknown, lost':
        return E.left(unknown)
      case 'unknown, written late': {
        const head = await inner.head(stream)
        // Only an append that would succeed now is written later. If its revision does not fit, it is refused now.
        if (expected === (head < 0 ? 'no_stream' : head)) void sleep(fault.ms).then(write)
        return E.left(unknown)
      }
      case 'written late':
        await sleep(fault.ms)
        return write()
      case 'acknowledged late': {
        const result = await write()
        await sleep(fault.ms)
        return result
      }
      case 'acknowledged after': {
        const result = await write()
        await fault.wait
        return result
      }
      case 'after':
        await fault.run()
        return write()
    }
  }

  const store: FaultyStore = {
    name: `faulty ${inner.name}`,
    limits: inner.limits,
    isShared: inner.isShared,
    ...(inner.time === undefined ? {} : { time: inner.time }),
    script,
    appends,
    failReads: 0,
    open: () => ({ now: opened, most }),
    hold: gate((to) => (beforeWrite = to)),
    holdAnswers: gate((to) => (beforeAnswer = to)),
    heal: () => {
      script.length = 0
      store.failReads = 0
      draw = () => ({ kind: 'none' })
    },
    append: (stream, events, expected, continues) => async () => {
      appends.push(events.length)
      opened++
      most = Math.max(most, opened)
      const result = await faulty(script.shift() ?? draw(), stream, inner.append(stream, events, expected, continues), expected)
      await beforeAnswer
      opened--
      return result
    },
    read: async function* (stream, options) {
      reading()
      yield* inner.read(stream, options)
    },
    pick: async (stream, revisions) => {
      reading()
      return inner.pick(stream, revisions)
    },
    first: inner.first,
    head: inner.head,
    streams: inner.streams,
    subscribe: inner.subscribe,
    close: inner.close,
  }
  return store
}

const swarmKinds = ['unavailable', 'unknown, written', 'unknown, lost', 'unknown, written late', 'written late', 'acknowledged late'] as const

/** Random faults: each seed chooses some kinds and a rate, so that rare combinations happen. */
export const swarm = (random: Random, msMax = 8): FaultPlan => {
  const kinds = swarmKinds.filter(() => random() < 0.5)
  const rate = oneOf(random, [0.02, 0.1, 0.3])
  return () => {
    if (kinds.length === 0 || random() >= rate) return { kind: 'none' }
    const kind = oneOf(random, kinds)
    return { kind, ms: 1 + below(random, msMax) }
  }
}
