/** The problem that a caller gets for a thrown error. */
import { StoreError } from '../store/index.js'
import type { HttpLimits } from './limits.js'
import { problem, type Problem } from './problem.js'

/** A thrown problem, for libraries that let nothing else through. */
export class Refused extends Error {
  override readonly name = 'Refused'
  constructor(readonly problem: Problem) {
    super(problem.detail)
  }
}

/** Details of an unexpected error go only to the log. */
export const problemOfError = (error: Error, { bodyBytesMax, itemsMax, taskBytesMax }: Pick<HttpLimits, 'bodyBytesMax' | 'itemsMax' | 'taskBytesMax'>): Problem => {
  if (error instanceof Refused) return error.problem
  if (error instanceof StoreError) return problemOfStore(error)
  const { code, statusCode = 500 } = error as { readonly code?: string; readonly statusCode?: number }
  switch (code) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return problem('too-large', `the body is over ${bodyBytesMax} bytes: send its tasks or outcomes in several requests, ${itemsMax} in each at most. A single content or result may have ${taskBytesMax} bytes: keep larger data elsewhere and send a reference`)
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return problem('unsupported-media-type', 'send JSON, with Content-Type: application/json')
    default:
      return statusCode >= 400 && statusCode < 500
        ? problem('invalid', 'the request is invalid', { status: statusCode })
        : problem('internal', 'something went wrong in the server; its log has more under this correlation id')
  }
}

/** A store error is not a defect of the program, and an operator can act on it. Its message names files, so it goes only to the server's log. */
const problemOfStore = ({ code, message }: StoreError): Problem => {
  const [, gone] = /^the events (\d+ to \d+ of \S+) are not in the log/.exec(message) ?? []
  if (gone !== undefined) return problem('unavailable', `the events ${gone} are not in the log any more, and the server does not have their segments: put them back into its folder, or, if nobody archived these events, see its log`)
  if (code !== 'damaged') {
    return problem('unavailable', 'the log cannot be read now; the server\'s own log has more under this correlation id', { retryAfterSeconds: 1 })
  }
  const [, where] = /^Events (\d+ to \d+ of \S+)/.exec(message) ?? []
  return problem('unavailable', `the log is damaged${where === undefined ? '' : ` at events ${where}`}: run \`daybook audit verify --data DIR --queue QUEUE\` where the server runs`)
}
