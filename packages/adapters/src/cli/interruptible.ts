import { Interrupted } from './exit-codes.js'
import type { Io } from './io.js'

/** Runs something that SIGINT, SIGTERM and SIGHUP interrupt. `signal` is then aborted, with the error to throw once nothing unfinished is left. */
export const interruptible = async <A>(io: Io, run: (signal: AbortSignal) => Promise<A>): Promise<A> => {
  const ended = new AbortController()
  const forget = io.onSignal((name) => ended.abort(new Interrupted(`interrupted by ${name}`)))
  try {
    return await run(ended.signal)
  } finally {
    forget()
  }
}
