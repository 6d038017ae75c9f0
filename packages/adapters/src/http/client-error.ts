/** Answers errors of Node's HTTP parser, which come before a route is known. */
import { randomUUID } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { Meter } from './metrics/meter.js'
import { problem, type Problem, problemText } from './problem.js'
import { noRoute, type RequestLog } from './request-log/index.js'
import { securityHeaderLines } from './security-headers.js'

/** The method of what was no HTTP request. */
const noMethod = '-'

const problemFor = (code: string | undefined): Problem => {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return problem('timeout', 'the request did not arrive completely in time; nothing was changed')
    case 'HPE_HEADER_OVERFLOW':
      return problem('headers-too-large', 'the request line and headers are over 16 KiB')
    default:
      return problem('invalid', 'this is not an HTTP/1.1 request')
  }
}

/** Answers on the bare socket if it is still writable, and closes it. */
export const answerClientError = (error: NodeJS.ErrnoException, socket: Socket, meter: Meter, log: RequestLog | undefined): void => {
  // A part of an answer may have been sent already. A second answer after it would only mislead the client.
  const { _httpMessage: answering } = socket as Socket & { readonly _httpMessage?: { readonly headersSent: boolean } | null }
  if (error.code === 'ECONNRESET' || !socket.writable || answering?.headersSent === true) return void socket.destroy()
  const what = problemFor(error.code)
  const correlationId = randomUUID()
  const text = problemText(what, correlationId)
  meter.refusedBy(what.code)
  meter.answered(noMethod, noRoute, what.status)
  log?.note({ method: noMethod, route: noRoute, status: what.status, gone: false, ms: 0, waitMs: 0, correlationId, code: what.code, remote: socket.remoteAddress })
  socket.end(
    `HTTP/1.1 ${what.status} ${STATUS_CODES[what.status] ?? ''}\r\nContent-Type: application/problem+json; charset=utf-8\r\n` +
      `${securityHeaderLines}Content-Length: ${Buffer.byteLength(text)}\r\nX-Correlation-Id: ${correlationId}\r\nConnection: close\r\n\r\n${text}`,
    () => socket.destroy(),
  )
}
