/** Parses ReadReq, which has nine variants. */
import type { Position } from './all-reads.js'
import { filterOf, type EventFilter } from './filters.js'
import { int64Max, uint64Max } from './protobuf.js'
import { BadRequest, revisionOf, streamName } from './requests.js'
import { streams, type ReadReq } from './stubs.js'

type Options = NonNullable<ReturnType<ReadReq['getOptions']>>
type Filtering = NonNullable<ReturnType<Options['getFilter']>>

const { StreamOptionCase, CountOptionCase, FilterOptionCase } = streams.ReadReq.Options
const { RevisionOptionCase } = streams.ReadReq.Options.StreamOptions
const { AllOptionCase } = streams.ReadReq.Options.AllOptions
const { FilterCase, WindowCase } = streams.ReadReq.Options.FilterOptions

/** `filter` undefined: no filter. `window` and `checkpointEvery` count examined events. */
export interface Filter {
  readonly matches: EventFilter
  readonly window: number
  readonly checkpointEvery: number
}

export type From<P> = P | 'start' | 'end'

export type ReadRequest = { readonly resolveLinks: boolean } & (
  | { readonly kind: 'stream'; readonly stream: string; readonly from: From<number>; readonly backwards: boolean; readonly count: number }
  | { readonly kind: 'all'; readonly from: From<Position>; readonly backwards: boolean; readonly count: number; readonly filter: Filter | undefined }
  | { readonly kind: 'subscribe-stream'; readonly stream: string; readonly from: From<number> }
  | { readonly kind: 'subscribe-all'; readonly from: From<Position>; readonly filter: Filter | undefined }
)

/** A combination or an argument that the server refuses with INVALID_ARGUMENT. */
export class InvalidRead extends Error {}

const defaultWindow = 32
/** The largest 64-bit number as a position: -1, where no record can be. */
const nowhere = -1

const streamFrom = (options: Options, subscribes: boolean): From<number> => {
  const stream = options.getStream()
  switch (stream?.getRevisionOptionCase()) {
    case RevisionOptionCase.START: return 'start'
    case RevisionOptionCase.END: return 'end'
    case RevisionOptionCase.REVISION: {
      const revision = revisionOf(stream.getRevision())
      // A subscription starts at the next revision, and there is none.
      if (subscribes && revision === int64Max) throw new BadRequest('no next revision')
      return revision === uint64Max ? 'end' : Number(revision)
    }
    default: throw new BadRequest('no revision')
  }
}

const allFrom = (options: Options): From<Position> => {
  const all = options.getAll()
  switch (all?.getAllOptionCase()) {
    case AllOptionCase.START: return 'start'
    case AllOptionCase.END: return 'end'
    case AllOptionCase.POSITION: {
      const commit = revisionOf(all.getPosition()?.getCommitPosition() ?? '0')
      const prepare = revisionOf(all.getPosition()?.getPreparePosition() ?? '0')
      if (commit < prepare) throw new BadRequest('The commit position cannot be less than the prepare position')
      if (prepare === uint64Max) return 'end'
      return { commit: commit === uint64Max ? nowhere : Number(commit), prepare: Number(prepare) }
    }
    default: throw new BadRequest('no position')
  }
}

const windowOf = (filter: Filtering): number => {
  switch (filter.getWindowCase()) {
    case WindowCase.MAX: return filter.getMax()
    case WindowCase.COUNT: return defaultWindow
    default: throw new InvalidRead("'None' is not a valid WindowOneofCase")
  }
}

const filterFrom = (options: Options): Filter | undefined => {
  const filter = options.getFilter()
  if (filter === undefined) return undefined
  const window = windowOf(filter)
  const expression = filter.getFilterCase() === FilterCase.EVENT_TYPE ? filter.getEventType() : filter.getStreamIdentifier()
  if (expression === undefined) throw new InvalidRead('not a valid filter')
  return {
    matches: filterOf({
      of: filter.getFilterCase() === FilterCase.EVENT_TYPE ? 'type' : 'stream',
      regex: expression.getRegex(),
      prefixes: expression.getPrefixList(),
    }),
    window,
    checkpointEvery: filter.getCheckpointintervalmultiplier() * window,
  }
}

const combined = (options: Options): string => {
  const ofStream = options.getStreamOptionCase() === StreamOptionCase.STREAM
  const subscribes = options.getCountOptionCase() === CountOptionCase.SUBSCRIPTION
  const filters = options.getFilterOptionCase() === FilterOptionCase.FILTER
  return `(${ofStream ? 'Stream' : 'All'}, ${subscribes ? 'Subscription' : 'Count'}, ${options.getReadDirection() === 1 ? 'Backwards' : 'Forwards'}, ${filters ? 'Filter' : 'NoFilter'})`
}

export const readRequest = (request: ReadReq): ReadRequest => {
  const options = request.getOptions()
  if (options === undefined) throw new BadRequest('no options')
  if (options.getStreamOptionCase() === StreamOptionCase.STREAM_OPTION_NOT_SET) throw new InvalidRead("'None' is not a valid StreamOptionOneofCase")
  const ofStream = options.getStreamOptionCase() === StreamOptionCase.STREAM
  const subscribes = options.getCountOptionCase() === CountOptionCase.SUBSCRIPTION
  const backwards = options.getReadDirection() === 1
  const filters = options.getFilterOptionCase() === FilterOptionCase.FILTER
  const notSet = options.getCountOptionCase() === CountOptionCase.COUNT_OPTION_NOT_SET
    || options.getFilterOptionCase() === FilterOptionCase.FILTER_OPTION_NOT_SET
  if (notSet || (ofStream && filters) || (subscribes && backwards)) throw new InvalidRead(`The combination of ${combined(options)} is invalid.`)
  const resolveLinks = options.getResolveLinks()
  const count = Number(options.getCount())
  if (ofStream) {
    const stream = streamName(options.getStream()?.getStreamIdentifier())
    if (stream === '') throw new BadRequest('no stream')
    const from = streamFrom(options, subscribes)
    return subscribes ? { kind: 'subscribe-stream', stream, from, resolveLinks } : { kind: 'stream', stream, from, backwards, count, resolveLinks }
  }
  const from = allFrom(options)
  const filter = filterFrom(options)
  if (subscribes && filter?.checkpointEvery === 0) throw new BadRequest("Specified argument was out of the range of valid values. (Parameter 'checkpointIntervalMultiplier')")
  return subscribes ? { kind: 'subscribe-all', from, filter, resolveLinks } : { kind: 'all', from, backwards, count, filter, resolveLinks }
}
