/**
 * Stores that are broken on purpose, each in one way. `teeth.test.ts` says which checks of the contract must
 * notice which defect.
 */
import * as E from 'fp-ts/lib/Either.js'
import { Observable, concatMap, filter, from, map, of } from 'rxjs'
import type { Delivered, EventStore, RecordedEvent } from '@daybook/adapters/store'

export type Defect = (store: EventStore) => EventStore

const changeRead =
  (change: (page: ReadonlyArray<RecordedEvent>) => ReadonlyArray<RecordedEvent>): Defect =>
  (store) => ({
    ...store,
    read: async function* (stream, options) {
      for await (const page of store.read(stream, options)) yield change(page)
    },
  })

const changeDelivered =
  (change: (delivered: Observable<Delivered>) => Observable<Delivered>): Defect =>
  (store) => ({ ...store, subscribe: (stream, from) => change(store.subscribe(stream, from)) })

const reencode = (text: string): string => JSON.stringify(JSON.parse(text))

const later = <A>(ms: number, body: () => Promise<A>): Promise<A> =>
  new Promise((resolve, reject) => setTimeout(() => body().then(resolve, reject), ms))

export const defects = {
  dropsAnEvent: (store) => ({
    ...store,
    append: (stream, batch, expected) =>
      store.append(stream, batch.length > 1 ? batch.filter((_, i) => i !== 1) : batch, expected),
  }),
  swapsTwoEvents: (store) => ({
    ...store,
    append: (stream, [one, two, ...rest], expected) =>
      store.append(stream, [two, one, ...rest].filter((event) => event !== undefined), expected),
  }),
  writesTwice: (store) => ({
    ...store,
    append: (stream, batch, expected) => store.append(stream, [...batch, ...batch], expected),
  }),
  ignoresExpectedRevision: (store) => ({ ...store, append: (stream, batch) => store.append(stream, batch, 'any') }),
  refusesLateButWrites: (store) => ({
    ...store,
    append: (stream, batch, expected) => async () => {
      const outcome = await store.append(stream, batch, expected)()
      if (E.isLeft(outcome)) await store.append(stream, batch.slice(0, 1), 'any')()
      return outcome
    },
  }),
  acknowledgesBeforeWriting: (store) => ({
    ...store,
    append: (stream, batch, expected) => async () => {
      const head = await store.head(stream)
      void later(20, store.append(stream, batch, expected))
      return E.right({ revision: head + batch.length })
    },
  }),
  saysTheFirstRevision: (store) => ({
    ...store,
    append: (stream, batch, expected) => async () => {
      const outcome = await store.append(stream, batch, expected)()
      return E.isRight(outcome) ? E.right({ revision: outcome.right.revision - batch.length + 1 }) : outcome
    },
  }),
  beginsTooEarly: (store) => ({
    ...store,
    append: (stream, batch, expected) => {
      const outcome = store.append(stream, batch, expected)()
      return () => outcome
    },
  }),
  sealsNothing: (store) => ({ ...store, append: (stream, batch, expected) => store.append(stream, batch, expected) }),
  beginsEveryChainAnew: (store) => ({
    ...store,
    append: (stream, batch, expected, continues) => store.append(stream, batch, expected, continues === undefined ? undefined : { head: undefined }),
  }),
  forgetsAfterRefusals: (store) => {
    let forgot = false
    return {
      ...store,
      append: (stream, batch, expected, continues) => {
        const task = store.append(stream, batch, expected, forgot && continues === 'sent' ? { head: undefined } : continues)
        if (expected === 7) forgot = true
        return task
      },
    }
  },
  writesWithoutPredecessors: (store) => ({
    ...store,
    append: (stream, batch, expected, continues) => async () => {
      const outcome = await store.append(stream, batch, expected, continues)()
      return E.isLeft(outcome) && continues === 'sent' ? store.append(stream, batch, 'any')() : outcome
    },
  }),
  reencodesData: (store) => ({
    ...store,
    append: (stream, batch, expected) =>
      store.append(stream, batch.map((event) => ({ ...event, data: reencode(event.data) })), expected),
  }),
  cutsLongData: (store) => ({
    ...store,
    append: (stream, batch, expected) =>
      store.append(stream, batch.map((event) => ({ ...event, data: event.data.slice(0, 65_536) })), expected),
  }),
  mixesStreams: (store) => {
    let last: string | undefined
    return {
      ...store,
      append: (stream, batch, expected) => {
        const wrong = last ?? stream
        last = stream
        return store.append(wrong, batch, expected)
      },
    }
  },
  ignoresItsLimit: (store) => ({ ...store, limits: { appendBytesMax: 4096, appendEventsMax: 100 } }),
  readsAPageShort: changeRead((page) => (page.length === 1000 ? page.slice(1) : page)),
  readsPagesBackToFront: changeRead((page) => [...page].reverse()),
  forgetsTheLimit: (store) => ({ ...store, read: (stream, { limit: _, ...rest } = {}) => store.read(stream, rest) }),
  forgetsTheDirection: (store) => ({
    ...store,
    read: (stream, { direction: _, ...rest } = {}) => store.read(stream, rest),
  }),
  startsOneLate: (store) => ({
    ...store,
    read: (stream, options = {}) =>
      store.read(stream, typeof options.from === 'number' ? { ...options, from: options.from + 1 } : options),
  }),
  picksInLogOrder: (store) => ({
    ...store,
    pick: (stream, revisions) => store.pick(stream, [...revisions].sort((a, b) => a - b)),
  }),
  picksWithoutGaps: (store) => ({
    ...store,
    pick: async (stream, revisions) => (await store.pick(stream, revisions)).filter((found) => found !== undefined),
  }),
  sortsStreams: (store) => ({ ...store, streams: async (prefix) => [...(await store.streams(prefix))].sort() }),
  ignoresCaseInPrefixes: (store) => ({
    ...store,
    streams: async (prefix) =>
      (await store.streams('')).filter((name) => name.toLowerCase().startsWith(prefix.toLowerCase())),
  }),
  subscribesFromTheNext: (store) => ({ ...store, subscribe: (stream, from) => store.subscribe(stream, from + 1) }),
  subscribesWithGaps: changeDelivered(
    map((delivered) => ('_tag' in delivered ? delivered : delivered.filter(({ revision }) => revision % 97 !== 96))),
  ),
  repeatsAtCatchUp: changeDelivered((source) => {
    let last: ReadonlyArray<RecordedEvent> = []
    return source.pipe(
      concatMap((delivered) => {
        if (!('_tag' in delivered)) last = delivered.slice(-1)
        return '_tag' in delivered && last.length > 0 ? of(last, delivered) : of(delivered)
      }),
    )
  }),
  catchesUpTwice: changeDelivered(
    concatMap((delivered) => ('_tag' in delivered ? from([delivered, delivered]) : of(delivered))),
  ),
  neverCatchesUp: changeDelivered(filter((delivered) => !('_tag' in delivered))),
  goesDeafAfterCatchUp: changeDelivered(
    (source) =>
      new Observable((subscriber) => {
        let deaf = false
        return source.subscribe((delivered) => {
          if (!deaf) subscriber.next(delivered)
          deaf ||= '_tag' in delivered
        })
      }),
  ),
  closesAtOnce: (store) => ({
    ...store,
    append: (stream, batch, expected) => () => later(20, store.append(stream, batch, expected)),
  }),
  staysOpen: (store) => ({ ...store, close: async () => undefined }),
} satisfies Readonly<Record<string, Defect>>
