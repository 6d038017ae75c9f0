/** Sends alerts to receivers elsewhere (EV-08). Each queue and receiver has a follower of the log, with its own checkpoint. */
import { createHash } from 'node:crypto'
import type { CheckpointStore } from '@daybook/projections'
import { type Daybook, parseObject } from '../engine/index.js'
import { followLog, forEachQueue, type LogFollower, type Problem } from '../log-follower/index.js'
import type { RecordedEvent } from '../store/index.js'
import { alertEvents, kindOf, messageOf, type WebhookMessage } from './message.js'
import type { ReceiverStatus, Tuning, WebhookOptions } from './receiver.js'

export interface WebhooksOptions {
  readonly daybook: Daybook
  readonly webhooks: ReadonlyArray<WebhookOptions>
  /** By queue: the event up to which each receiver got messages. */
  readonly checkpoints: (queue: string) => CheckpointStore
  /** Since when each receiver has been configured. */
  readonly known: CheckpointStore
  readonly warn: (message: string) => void
  readonly tuning?: Tuning
}

export interface WebhookStatus extends ReceiverStatus {
  /** Number of known messages that are not sent yet. */
  readonly waiting: number
  /** Queues whose log cannot be read now. */
  readonly unread: ReadonlyArray<Problem & { readonly queue: string }>
}

export interface Webhooks {
  readonly status: () => ReadonlyArray<WebhookStatus>
  /** Cancels the messages in flight after a second. They are sent again at the next start. */
  readonly close: () => Promise<void>
}

/**
 * A new receiver gets alerts from now on. A known receiver gets everything that it has not got yet, including the alerts of queues that were created
 * while no server was running.
 */
export const startWebhooks = async ({ daybook, webhooks, checkpoints, known, warn, tuning }: WebhooksOptions): Promise<Webhooks> => {
  const since = await admit({ daybook, webhooks, checkpoints, known })
  const started = await Promise.all(webhooks.map(async (options) => {
    // Loaded here: most servers have no webhook.
    const { Receiver } = await import('./receiver.js')
    const receiver = new Receiver(options, warn, daybook.now, tuning)
    const followers = new Map<string, LogFollower>()
    const stop = forEachQueue(daybook, (engine) => {
      /** The message of an event, if the receiver wants it. */
      const wantedOf = (event: RecordedEvent): WebhookMessage | undefined => {
        const message = messageOf(engine.name, event)
        return message !== undefined && message.at >= (since[options.name] ?? 0) && receiver.wants(message) ? message : undefined
      }
      const follower = followLog({
        engine,
        log: daybook.log,
        checkpoints: checkpoints(engine.name),
        name: checkpointOf(options),
        types: alertEvents,
        // What the receiver does not want does not wait either.
        matters: ({ type, data }) => type !== 'AlertRaised' && type !== 'AlertCleared' || receiver.wants({ queue: engine.name, kind: kindOf(data.key) }),
        mattersInLog: (event) => wantedOf(event) !== undefined,
        take: async (events, { signal }) => {
          for (const event of events) {
            const message = wantedOf(event)
            if (message !== undefined) await receiver.deliver(message, signal)
          }
        },
        // Each message has its own revision in the log, so a crash repeats at most one.
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
  }))
  return {
    status: () => started.map(({ status }) => status()),
    close: async () => void (await Promise.all(started.map(({ close }) => close()))),
  }
}

/** Since when each receiver has been configured, in milliseconds since 1970. New receivers begin at the end of each log. */
const admit = async ({ daybook, webhooks, checkpoints, known }: Pick<WebhooksOptions, 'daybook' | 'webhooks' | 'checkpoints' | 'known'>): Promise<Readonly<Record<string, number>>> => {
  const stored = await known.load(knownName)
  // Most servers have no webhook and never had one. They get no folder for it.
  if (stored === undefined && webhooks.length === 0) return {}
  const before = parseObject(stored?.state ?? '{}') ?? {}
  const since: Record<string, number> = {}
  for (const { name } of webhooks) {
    const told = before[name]
    // A time in the future was noted while the clock was ahead. Until then the receiver would be told of nothing.
    if (typeof told === 'number') since[name] = Math.min(told, daybook.now())
    else {
      since[name] = daybook.now()
      for (const engine of daybook.queues()) {
        await checkpoints(engine.name).save({ projection: checkpointOf({ name }), version: 1, revision: engine.status().revision, state: 'null' })
      }
    }
  }
  // Receivers that are no longer configured are forgotten. If they come back, they are new.
  await known.save({ projection: knownName, version: 1, revision: 0, state: JSON.stringify(since) })
  return since
}

const knownName = 'receivers'
/** Names of receivers are free text, but names of checkpoints are names of files. */
const checkpointOf = ({ name }: Pick<WebhookOptions, 'name'>): string => `webhook-${createHash('sha256').update(name).digest('hex').slice(0, 16)}`
