/** Answers a query about a past moment: the route's own function, over the state of that moment. */
import { headOf, type QueueState, timeOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { type FindCauses, revisionAt, streamOf } from '../../engine/index.js'
import { contentsFrom, type PastLimits, PastStates, pastView } from '../../past/index.js'
import type { LogReader, SnapshotStore } from '../../store/index.js'
import { alertRoutes } from '../routes/alert-routes.js'
import { batchRoutes } from '../routes/batch-routes.js'
import { limitRoutes } from '../routes/limit-routes.js'
import type { HttpLimits } from '../limits.js'
import type { Moment, Span } from '../query.js'
import type { Handled, KnownMoment, Route, SpanCall, SpanRoute, ViewRoute } from '../routes/route.js'
import { scheduleRoutes } from '../routes/schedule-routes.js'
import { refusalOfUnused } from '../routes/unused.js'
import { viewRoutes } from '../routes/view-routes.js'

/** A query that was checked. It is sent between threads. */
export interface PastQuestion {
  readonly queue: string
  /** The route's path, with its `{names}`. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly wantsLines: boolean
  /** `from` and `to` for a query about a span. */
  readonly moment: PastMoment | { readonly from: PastMoment; readonly to: PastMoment }
}

/** A revision of the queue (-1: before its first event); or a time in milliseconds since 1970, with the last revision at the time of the query. */
export type PastMoment = { readonly revision: number } | { readonly at: number; readonly head: number }

export interface PastSource {
  /** With decrypted contents, for answers. */
  readonly log: LogReader
  /** The log as it is stored, from which states are folded, so that no state has the texts of an erasable task. Default: `log`. */
  readonly stored?: LogReader | undefined
  readonly snapshots?: Pick<SnapshotStore, 'list'> | undefined
  readonly limits: HttpLimits
  readonly causes?: FindCauses | undefined
  readonly states?: PastLimits | undefined
  /** Called while events are replayed. */
  readonly progress?: (events: number, of: number) => void
}

export type AnswerPast = (question: PastQuestion, signal: AbortSignal) => Promise<Handled>

const isAboutPast = (route: Route): route is ViewRoute | SpanRoute => route.of === 'view' || route.of === 'span'

const routesOf = (limits: HttpLimits): ReadonlyArray<ViewRoute | SpanRoute> => {
  const of = '/api/queues/{queue}'
  return [...viewRoutes(limits), ...limitRoutes(of), ...scheduleRoutes(of), ...batchRoutes(of, limits), ...alertRoutes(of)].filter(isAboutPast)
}

/** All routes that answer from a view. */
export const viewRoutesOf = (limits: HttpLimits): ReadonlyArray<ViewRoute> => routesOf(limits).flatMap((route) => (route.of === 'view' ? [route] : []))

/** @throws the signal's reason if it is aborted, StoreError if the log cannot be read. */
export const answerPastFrom = ({ log, stored = log, snapshots, limits, causes, states: kept, progress }: PastSource): AnswerPast => {
  const routes = new Map(routesOf(limits).map((route) => [route.path, route]))
  const states = new PastStates({ log: stored, snapshots, ...(kept === undefined ? {} : { limits: kept }), ...(progress === undefined ? {} : { progress }) })

  const known = async (queue: string, moment: PastMoment): Promise<KnownMoment> =>
    'revision' in moment ? moment : { at: moment.at, revision: await revisionAt(log, streamOf(queue), moment.head, moment.at) }

  const viewed = async (route: ViewRoute, { queue, params, query, wantsLines }: PastQuestion, moment: PastMoment, signal: AbortSignal): Promise<Handled> => {
    const { revision, at } = await known(queue, moment)
    const answer = async (state: QueueState): Promise<Handled> => {
      const refusal = refusalOfUnused(route.unused, queue, revision, headOf(state).deleted)
      if (refusal !== undefined) return E.left({ revision, ...refusal })
      const view = pastView(queue, state, at ?? timeOf(state), log, causes)
      const handled = await route.handle({ queue: view, params, query: query as Moment, limits, tenants: undefined, wantsLines, gone: () => signal })
      return E.isRight(handled) ? handled : E.left({ revision, ...handled.left })
    }
    return states.use(queue, revision, answer, signal)
  }

  const walked = async (route: SpanRoute, { queue, query }: PastQuestion, moments: { readonly from: PastMoment; readonly to: PastMoment }, signal: AbortSignal): Promise<Handled> => {
    const [from, to] = [await known(queue, moments.from), await known(queue, moments.to)]
    const walk: SpanCall['queue']['walk'] = ({ begin, event, end }) =>
      states.walk(queue, from.revision, to.revision, {
        begin: (state) => begin(state, from.at ?? timeOf(state)),
        event,
        end: (state) => end(state, to.at ?? timeOf(state)),
      }, signal)
    return route.handle({ queue: { name: queue, contents: contentsFrom(log, queue), walk }, span: { from, to }, query: query as Span, limits })
  }

  return (question, signal) => {
    const route = routes.get(question.path) as ViewRoute | SpanRoute
    const { moment } = question
    if (route.of === 'span') return walked(route, question, moment as { readonly from: PastMoment; readonly to: PastMoment }, signal)
    return viewed(route, question, moment as PastMoment, signal)
  }
}
