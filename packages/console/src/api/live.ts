/**
 * The live connection of the tab: one WebSocket for the shown queue. It reports that the queue has moved, and shown data are then fetched again. Some
 * events have no message (docs/websocket.md), so the queue's revision is also polled every few seconds. A token for tenants gets no messages, and
 * polls alone. A hidden tab has no connection, and catches up when it is shown.
 */
import { effect, signal } from '@preact/signals'
import { momentShown, queueShown } from '../address/address.js'
import { pathOf } from '../address/url.js'
import { allMoved, moved } from './questions.js'
import { request } from './request.js'
import { may, me, token } from './session.js'

export type LiveState = 'off' | 'connecting' | 'open'

export const live = signal<LiveState>('off')

/** A message of the shown queue, as in docs/websocket.md. */
export interface LiveMessage {
  readonly event: string
  readonly timestamp: string
  readonly revision: number
  readonly payload: Readonly<Record<string, unknown>>
}

const listeners = new Set<(message: LiveMessage) => void>()

/** Returns a function that removes the listener. */
export const onMessage = (listener: (message: LiveMessage) => void): (() => void) => {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}

const revisionMs = 5_000
/** The same without messages. */
const revisionAloneMs = 3_000
const firstWaitMs = 500
const longestWaitMs = 15_000

/** As a subprotocol, which can have fewer characters than a header: base64, for example, has `/` and `=`. */
const bearerOf = (of: string): string => `bearer.${encodeURIComponent(of).replace(/[()]/g, (found) => (found === '(' ? '%28' : '%29'))}`

/** Follows one queue until it is stopped. */
const follow = (queue: string): (() => void) => {
  let isOver = false
  let socket: WebSocket | undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  let waitMs = firstWaitMs
  /** The last revision that is known. */
  let revision: number | undefined

  const reached = (now: number): void => {
    if (revision === now) return
    revision = now
    moved(queue)
  }
  const connect = (): void => {
    live.value = 'connecting'
    const from = revision === undefined ? 'end' : String(revision + 1)
    const url = `${location.protocol === 'https:' ? 'wss' : 'ws'}://${location.host}/api/ws?queue=${encodeURIComponent(queue)}&from=${from}`
    const opened = new WebSocket(url, token.value === undefined ? ['daybook'] : ['daybook', bearerOf(token.value)])
    socket = opened
    opened.onopen = () => {
      live.value = 'open'
      waitMs = firstWaitMs
      void look()
    }
    opened.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as LiveMessage
      reached(message.revision)
      for (const listener of [...listeners]) listener(message)
    }
    opened.onclose = () => {
      if (isOver || socket !== opened) return
      live.value = 'connecting'
      // A browser does not say why a handshake failed. This request does, and leads to the login if the token is the cause.
      void look()
      timer = setTimeout(connect, waitMs * (0.75 + Math.random() / 2))
      waitMs = Math.min(longestWaitMs, waitMs * 2)
    }
  }
  let isLooking = false
  const look = async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    try {
      const { value } = await request<{ readonly revision: number }>('GET', pathOf(['api', 'queues', queue]), { isSoon: true })
      // The log may have been replaced by an older one.
      if (!isOver) reached(value.revision)
    } catch {
      // `contact` reports the failure.
    } finally {
      isLooking = false
    }
  }
  const hasMessages = may.seeAll.peek()
  if (hasMessages) connect()
  else void look()
  const looking = setInterval(() => void look(), hasMessages ? revisionMs : revisionAloneMs)
  return () => {
    isOver = true
    clearTimeout(timer)
    clearInterval(looking)
    socket?.close()
    live.value = 'off'
  }
}

const isVisible = signal(!document.hidden)

export const startLive = (): void => {
  document.addEventListener('visibilitychange', () => {
    isVisible.value = !document.hidden
    if (!document.hidden) allMoved()
  })
  effect(() => {
    const queue = queueShown.value
    if (queue === undefined || me.value === undefined || momentShown.value !== undefined || !isVisible.value) return undefined
    return follow(queue)
  })
}
