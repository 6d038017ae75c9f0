/** Newline-delimited JSON, read as it is needed. */
import type { Calls } from './calls.js'
import { DaybookError, errorOfAnswer } from './errors.js'
import type { HttpRequest } from './transport.js'

/** Leaving the loop early ends the request. */
export const ndjson = async function* <T>(calls: Calls, request: HttpRequest): AsyncGenerator<T, void> {
  const { statusCode, headers, body } = await calls.stream({ ...request, accept: 'application/x-ndjson' })
  if (statusCode < 200 || statusCode > 299) {
    const retryAfter = headers['retry-after']
    throw errorOfAnswer(statusCode, await body.text(), typeof retryAfter === 'string' ? retryAfter : undefined)
  }
  // Not the stream's own `setEncoding`: its first chunk may be there already.
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') yield JSON.parse(line) as T
    }
    if (rest.trim() !== '') yield JSON.parse(rest) as T
  } catch (error) {
    if (error instanceof DaybookError) throw error
    if (request.signal?.aborted === true) throw new DaybookError('aborted', 'given up by the caller', { cause: error })
    if (error instanceof SyntaxError) {
      throw new DaybookError('unexpected-answer', `a line is no JSON: ${error.message}`, { cause: error })
    }
    throw new DaybookError('unreachable', `the stream broke off: ${(error as Error).message}`, { cause: error })
  }
}
