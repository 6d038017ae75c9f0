/** Answers a question about a past moment: the route's own function, over the state of then. */
import { headOf, timeOf } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { streamOf } from '../../engine/index.js'
import { type PastLimits, PastStates, pastView, revisionAt } from '../../past/index.js'
import type { LogReader, SnapshotStore } from '../../store/index.js'
import { alertRoutes } from '../alert-routes.js'
import { limitRoutes } from '../limit-routes.js'
import type { HttpLimits } from '../limits.js'
import type { Handled, ViewRoute } from '../route.js'
import { scheduleRoutes } from '../schedule-routes.js'
import { refusalOfUnused } from '../unused.js'
import { viewRoutes } from '../view-routes.js'

/** A question that was checked. It crosses threads. */
export interface PastQuestion {
  readonly queue: string
  /** The route's path, with its `{names}`. */
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly query: unknown
  readonly wantsLines: boolean
  /** A revision of the queue, or a time, in milliseconds since 1970, and the last revision there was when it was over. */
  readonly moment: { readonly revision: number } | { readonly at: number; readonly head: number }
}

export interface PastSource {
  readonly log: LogReader
  readonly snapshots?: Pick<SnapshotStore, 'list'> | undefined
  readonly limits: HttpLimits
  readonly states?: PastLimits | undefined
}

export type AnswerPast = (question: PastQuestion, signal: AbortSignal) => Promise<Handled>

const isView = (route: { readonly of: string }): route is ViewRoute => route.of === 'view'

/** All routes that answer from a view. */
export const viewRoutesOf = (limits: HttpLimits): ReadonlyArray<ViewRoute> => {
  const of = '/api/queues/{queue}'
  return [...viewRoutes(limits), ...limitRoutes(of), ...scheduleRoutes(of), ...alertRoutes(of)].filter(isView)
}

/** @throws the signal's reason when it is aborted, StoreError when the log cannot be read. */
export const answerPastFrom = ({ log, snapshots, limits, states: kept }: PastSource): AnswerPast => {
  const routes = new Map(viewRoutesOf(limits).map((route) => [route.path, route]))
  const states = new PastStates({ log, snapshots, ...(kept === undefined ? {} : { limits: kept }) })

  return async ({ queue, path, params, query, wantsLines, moment }, signal) => {
    const route = routes.get(path) as ViewRoute
    const revision = 'revision' in moment ? moment.revision : await revisionAt(log, streamOf(queue), moment.head, moment.at)
    const answer = async (state: Parameters<typeof timeOf>[0]): Promise<Handled> => {
      const refusal = refusalOfUnused(route.unused, queue, revision, headOf(state).deleted)
      if (refusal !== undefined) return E.left(refusal)
      const at = 'at' in moment ? moment.at : timeOf(state)
      const view = pastView(queue, state, at, log)
      const handled = await route.handle({ queue: view, params, query: query as Parameters<typeof route.handle>[0]['query'], limits, wantsLines, gone: () => signal })
      return E.isRight(handled) ? handled : E.left({ revision, ...handled.left })
    }
    return states.use(queue, revision, answer, signal)
  }
}
