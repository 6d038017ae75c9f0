/** Tells receivers elsewhere of alerts (EV-08): for each queue and receiver a follower of the log, with a checkpoint of its own. */
import { createHash } from 'node:crypto'
import type { CheckpointStore } from '@daybook/projections'
import { type Daybook, parseObject } from '../engine/index.js'
import { followLog, forEachQueue, type LogFollower, type Problem } from '../log-follower/index.js'
import { alertEvents, messageOf } from './message.js'
import { Receiver, type ReceiverStatus, type Tuning, type WebhookOptions } from './receiver.js'

export interface WebhooksOptions {
  readonly daybook: Daybook
  readonly webhooks: ReadonlyArray<WebhookOptions>
  /** By queue: up to where each receiver was told. */
  readonly checkpoints: (queue: string) => CheckpointStore
  /** Since when each receiver is told. */
  readonly known: CheckpointStore
  readonly warn: (message: string) => void
  readonly tuning?: Tuning
}

export interface WebhookStatus extends ReceiverStatus {
  /** Messages that are known and not sent yet. */
  readonly waiting: number
  /** Queues whose log cannot be read now. */
  readonly unread: ReadonlyArray<Problem & { readonly queue: string }>
}

export interface Webhooks {
  readonly status: () => ReadonlyArray<WebhookStatus>
  /** Gives up after a second what is under way. It is sent again at the next start. */
  readonly close: () => Promise<void>
}

/**
 * A receiver that is new is told of what happens from now on. One that is known is told of everything that it was not told of, also of
 * queues that came while no server ran.
 */
export const startWebhooks = async ({ daybook, webhooks, checkpoints, known, warn, tuning }: WebhooksOptions): Promise<Webhooks> => {
  const since = await admit({ daybook, webhooks, checkpoints, known })
  const started = webhooks.map((options) => {
    const receiver = new Receiver(options, warn, tuning)
    const followers = new Map<string, LogFollower>()
    const stop = forEachQueue(daybook, (engine) => {
      const follower = followLog({
        engine,
        log: daybook.log,
        checkpoints: checkpoints(engine.name),
        name: checkpointOf(options),
        types: alertEvents,
        take: async (events, { signal }) => {
          for (const event of events) {
            const message = messageOf(engine.name, event)
            if (message !== undefined && message.at >= (since[options.name] ?? 0) && receiver.wants(message)) await receiver.deliver(message, signal)
          }
        },
        // Each message has its own place in the log, so a crash repeats one at most.
        batchMax: 1,
        checkpointEvery: 1,
        warn,
        words: { forNow: `webhook ${options.name} is not told of alerts for now, and of all later`, untilStart: `webhook ${options.name} is not told of alerts until the next start` },
        retryMs: tuning?.retryMs,
      })
      followers.set(engine.name, follower)
      return () => follower.stop()
    })
    const status = (): WebhookStatus => ({
      ...receiver.status(),
      waiting: [...followers.values()].reduce((sum, follower) => sum + follower.waiting(), 0),
      unread: [...followers].flatMap(([queue, follower]) => {
        const problem = follower.problem()
        return problem === undefined ? [] : [{ queue, ...problem }]
      }),
    })
    const close = async (): Promise<void> => {
      receiver.stopSoon()
      await stop()
      await receiver.close()
    }
    return { status, close }
  })
  return {
    status: () => started.map(({ status }) => status()),
    close: async () => void (await Promise.all(started.map(({ close }) => close()))),
  }
}

/** Since when each receiver is told, in milliseconds since 1970. Those that are new begin at the end of each log. */
const admit = async ({ daybook, webhooks, checkpoints, known }: Pick<WebhooksOptions, 'daybook' | 'webhooks' | 'checkpoints' | 'known'>): Promise<Readonly<Record<string, number>>> => {
  const before = parseObject((await known.load(knownName))?.state ?? '{}') ?? {}
  const since: Record<string, number> = {}
  for (const { name } of webhooks) {
    const told = before[name]
    if (typeof told === 'number') since[name] = told
    else {
      since[name] = Date.now()
      for (const engine of daybook.queues()) {
        await checkpoints(engine.name).save({ projection: checkpointOf({ name }), version: 1, revision: engine.status().revision, state: 'null' })
      }
    }
  }
  // Receivers that are not configured any more are forgotten. If they come back, they are new.
  await known.save({ projection: knownName, version: 1, revision: 0, state: JSON.stringify(since) })
  return since
}

const knownName = 'receivers'
/** Names of receivers are free text, and those of checkpoints are names of files. */
const checkpointOf = ({ name }: Pick<WebhookOptions, 'name'>): string => `webhook-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
