/** The routes, and everything that they answer from: the server without its sockets. */
import * as E from 'fp-ts/lib/Either.js'
import type { Tokens } from '../auth/index.js'
import { type Verifications, verificationsHere, verifyScan } from '../chain/index.js'
import type { Daybook } from '../engine/index.js'
import type { MemoryService } from '../memory-bank/index.js'
import type { Telemetry } from '../telemetry/index.js'
import { openReadModels } from './handle/read-models.js'
import { readers } from './routes/access.js'
import { IdempotencyKeys } from './idempotency.js'
import { type HttpLimits, httpLimitsDefault } from './limits.js'
import { Meter } from './metrics/meter.js'
import { metricsOf } from './metrics/metrics.js'
import { openApi } from './openapi/document.js'
import { type PastAnswers, pastAnswersHere } from './past/index.js'
import type { Route } from './routes/route.js'
import { routesOf } from './routes/routes.js'
import type { Context } from './serve-route.js'
import type { ServerParts } from './server-parts.js'

/** Each part is none by default. */
export interface ServiceOptions extends Partial<ServerParts> {
  readonly daybook: Daybook
  /** `off` admits every program on this machine: check `refusalOfAuthOff(host)` first. */
  readonly tokens: Tokens | 'off'
  readonly limits?: Partial<HttpLimits>
  /** The memory, whose contents come with claims. Default: none. It is not closed with the server. */
  readonly memory?: MemoryService
  /** Verifies logs. It is not closed with the server. Default: on this thread. */
  readonly verifications?: Verifications
  /** Answers queries about past moments. It is not closed with the server. Default: on this thread, without snapshots. */
  readonly past?: PastAnswers
  /** The counters, if others than the routes count as well. Default: counters of its own. */
  readonly meter?: Meter
  /** A collector that gets requests and metrics. It is not closed with the server. Default: none. */
  readonly telemetry?: Telemetry | undefined
  /** Serves `/metrics` without a token. Default false, because queue names and task types may be confidential. */
  readonly openMetrics?: boolean
  /** The version shown in `/metrics` and the OpenAPI document. Default 0.1.0. */
  readonly version?: string
}

export interface Service {
  readonly routes: ReadonlyArray<Route>
  readonly context: Context
  /** Set by whoever stops the service, so that `/readyz` reports it. */
  readonly state: { isDraining: boolean }
}

export const serviceOf = (options: ServiceOptions): Service => {
  const { daybook, version = '0.1.0', queueFiles = () => [], webhooks = () => [], readModels = () => undefined, keepsReadModels = false, checkpoints = () => undefined } = options
  const parts: ServerParts = { queueFiles, webhooks, readModels, keepsReadModels, checkpoints }
  const limits = { ...httpLimitsDefault, ...options.limits }
  const { meter = new Meter() } = options
  const state = { isReplayed: false, isDraining: false }
  const past = options.past ?? pastAnswersHere({ log: daybook.contentLog, stored: daybook.log, limits })
  const verifications =
    options.verifications ??
    verificationsHere(async (stream) => {
      const head = await daybook.log.head(stream)
      return verifyScan(stream, { head, pages: daybook.log.read(stream, { limit: head + 1 }) })
    })
  const context: Context = { daybook, limits, meter, past, keys: new IdempotencyKeys(limits), causes: async (question) => readModels()?.causes(question), isReplayed: () => state.isReplayed }
  daybook.ready.then(
    () => {
      state.isReplayed = true
      daybook.queues().forEach((queue) => meter.watch(queue))
    },
    // Whoever opened the daybook gets the error. This server just stays not ready.
    () => undefined,
  )

  const metrics = metricsOf(daybook, meter, version, parts)
  options.telemetry?.export(metrics.list)
  let document: string | undefined
  const routes: ReadonlyArray<Route> = routesOf({
    limits,
    memory: options.memory,
    readModels: () => openReadModels(parts),
    verifications,
    readiness: { ...parts, tokens: options.tokens, isReplayed: () => state.isReplayed, isDraining: () => state.isDraining, memory: () => options.memory?.status() ?? [] },
    metricsWho: options.openMetrics === true ? 'anyone' : readers,
    tokens: options.tokens,
    metrics: async () => E.right({ status: 200, text: await metrics.text(), type: 'text/plain; version=0.0.4; charset=utf-8' }),
    openApi: () => Promise.resolve(E.right({ status: 200, text: (document ??= JSON.stringify(openApi(routes, version))) })),
  })
  return { routes, context, state }
}
