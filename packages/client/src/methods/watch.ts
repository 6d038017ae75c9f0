/** Watching a queue: its messages over a WebSocket, without gaps. */
import { backoff } from '../transport/backoff.js'
import { pause } from '../transport/retry.js'
import { closedError, joined, onAbort } from '../transport/abort.js'
import { DaybookError, errorOfAnswer } from '../errors.js'

/** What has happened: see docs/websocket.md for the events and their payloads. */
export interface WatchMessage {
  readonly event: string
  readonly timestamp: string
  /** The revision of the event in the log. Several messages may have the same. */
  readonly revision: number
  readonly payload: Readonly<Record<string, unknown>>
}

export interface WatchOptions {
  /** The first revision. Default `end`: only what happens from now on. */
  readonly from?: number | 'end' | undefined
  /** Ends the watch. */
  readonly signal?: AbortSignal | undefined
}

interface Place {
  /** Each new connection goes to the next of these. */
  readonly urls: ReadonlyArray<string>
  readonly token: string | undefined
  readonly queue: string
  /** Aborted when the client is closed. */
  readonly closing: AbortSignal
}

/** Number of received messages that are not taken yet, at which the socket is paused. */
const aheadMax = 1_000
/** Interval of pings, in milliseconds. A server that has not answered one by the next is gone, though nothing has ended the connection: its machine, or the network. */
const pingMs = 30_000

/**
 * The queue's messages, in order, each once. Whenever the connection ends, it reconnects and goes on from where it was. It ends when the signal
 * aborts, the client is closed or the loop is left. Rejects only if the server refuses (a wrong token or queue), or if the client was closed before.
 */
export const watch = async function* (place: Place, { from = 'end', signal: given }: WatchOptions = {}): AsyncGenerator<WatchMessage, void> {
  const { closing } = place
  if (closing.aborted) throw closedError()
  const { signal, forget } = joined(closing, given)
  const delays = backoff({ firstMs: 100, mostMs: 5_000, random: Math.random })
  let next: number | 'end' = from
  /** Number of seen messages of revision `next`: a connection may end between the messages of one event. */
  let seen = 0
  try {
    for (let connections = 0; !signal.aborted; connections++) {
      let skip = seen
      try {
        for await (const message of connection({ ...place, url: place.urls[connections % place.urls.length] as string }, next, signal)) {
          delays.reset()
          if ('at' in message) {
            // The server says which revision `end` is, so that nothing is missed if the connection ends before the first message.
            if (next === 'end') next = message.at
            continue
          }
          if (message.revision === next && skip > 0) {
            skip--
            continue
          }
          seen = message.revision === next ? seen + 1 : 1
          next = message.revision
          yield message
        }
      } catch (error) {
        if (error instanceof DaybookError && !['unreachable', 'unavailable', 'overloaded', 'too-many-requests'].includes(error.code)) throw error
      }
      await pause(delays.next(), signal)
    }
  } finally {
    forget()
  }
}

const messageIn = (data: Buffer): WatchMessage | undefined => {
  try {
    return JSON.parse(data.toString('utf8')) as WatchMessage
  } catch {
    // A proxy may have cut it or put something else in its place.
    return undefined
  }
}

/** The messages of one connection. Ends with the connection. */
const connection = async function* ({ url, token, queue }: Omit<Place, 'urls'> & { readonly url: string }, from: number | 'end', signal: AbortSignal): AsyncGenerator<WatchMessage | { readonly at: number }, void> {
  // Loaded here, because most clients watch nothing.
  const { WebSocket } = await import('ws')
  if (signal.aborted) return
  const address = new URL(url)
  address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:'
  address.pathname = `${address.pathname.replace(/\/$/, '')}/api/ws`
  address.search = `?queue=${encodeURIComponent(queue)}&from=${from}`
  const socket = new WebSocket(address, 'daybook', { ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }), perMessageDeflate: false, handshakeTimeout: 30_000 })
  const received: Array<WatchMessage | { readonly at: number }> = []
  let problem: Error | undefined
  let isOver = false
  let wake = (): void => undefined
  const end = (): void => {
    isOver = true
    wake()
  }
  socket.on('message', (data: Buffer) => {
    const message = messageIn(data)
    if (message === undefined) {
      problem ??= new DaybookError('unreachable', 'the WebSocket got a message that is no JSON: it is opened again')
      end()
      return
    }
    received.push(message)
    if (received.length >= aheadMax) socket.pause()
    wake()
  })
  socket.on('unexpected-response', (request, response) => {
    let body = ''
    response.on('data', (chunk: Buffer) => (body += chunk.toString('utf8')))
    // Also if the answer breaks off.
    response.on('close', () => {
      problem = errorOfAnswer(response.statusCode ?? 0, body, response.headers['retry-after'])
      request.destroy()
      end()
    })
  })
  socket.on('upgrade', ({ headers }) => {
    const at = Number(headers['x-daybook-revision'])
    if (Number.isInteger(at)) received.push({ at: at + 1 })
  })
  socket.on('error', (error) => {
    problem ??= new DaybookError('unreachable', `the WebSocket cannot be opened: ${error.message}`, { cause: error })
    end()
  })
  socket.on('close', end)
  let isAlive = true
  const isThere = (): void => void (isAlive = true)
  socket.on('pong', isThere)
  socket.on('message', isThere)
  const ping = setInterval(() => {
    // While it is paused, no answer is read.
    if (socket.isPaused) return isThere()
    if (socket.readyState !== socket.OPEN) return
    if (!isAlive) return socket.terminate()
    isAlive = false
    socket.ping()
  }, pingMs)
  const forget = onAbort(signal, end)
  try {
    for (;;) {
      const message = received.shift()
      if (message !== undefined) {
        if (received.length < aheadMax / 2 && socket.isPaused) socket.resume()
        yield message
        if (signal.aborted) return
        continue
      }
      if (isOver) break
      await new Promise<void>((resolve) => (wake = resolve))
    }
    if (problem !== undefined) throw problem
  } finally {
    forget()
    clearInterval(ping)
    socket.terminate()
  }
}
