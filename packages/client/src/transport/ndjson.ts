/** Reads newline-delimited JSON as it is needed. */
import { abortedError } from './abort.js'
import type { Calls } from './calls.js'
import { DaybookError, errorOfAnswer } from '../errors.js'
import type { HttpRequest } from './transport.js'

/** The parsed lines. Leaving the loop early ends the request. */
export const ndjson = async function* <T>(calls: Calls, request: HttpRequest): AsyncGenerator<T, void> {
  for await (const bytes of ndjsonLines(calls, request)) {
    for (const line of bytes.toString('utf8').split('\n')) if (line.trim() !== '') yield parsed<T>(line)
  }
}

const parsed = <T>(line: string): T => {
  try {
    return JSON.parse(line) as T
  } catch (error) {
    throw new DaybookError('unexpected-answer', `a line is no JSON: ${(error as Error).message}`, { cause: error })
  }
}

/** The lines as they are sent, several at a time. Each ends with a line feed, except perhaps the very last one. Leaving the loop early ends the request. */
export const ndjsonLines = async function* (calls: Calls, request: HttpRequest): AsyncGenerator<Buffer, void> {
  const { statusCode, headers, body } = await calls.stream({ ...request, accept: 'application/x-ndjson' })
  if (statusCode < 200 || statusCode > 299) {
    const retryAfter = headers['retry-after']
    throw errorOfAnswer(statusCode, await body.text(), typeof retryAfter === 'string' ? retryAfter : undefined)
  }
  /** The parts of a line that is not complete yet. */
  let begun: Array<Buffer> = []
  try {
    for await (const chunk of body) {
      const end = chunk.lastIndexOf(lineFeed) + 1
      if (end > 0) {
        yield Buffer.concat([...begun, chunk.subarray(0, end)])
        begun = []
      }
      if (end < chunk.length) begun.push(chunk.subarray(end))
    }
  } catch (error) {
    if (error instanceof DaybookError) throw error
    if (request.signal?.aborted === true) throw abortedError(request.signal)
    throw new DaybookError('unreachable', `the stream broke off: ${(error as Error).message}`, { cause: error })
  }
  if (begun.length > 0) yield Buffer.concat(begun)
}
const lineFeed = 0x0a
