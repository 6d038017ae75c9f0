import { ChainVerifier, type Verdict } from '@daybook/adapters/chain'
import type { RecordedEvent } from '@daybook/adapters/store'
import { holds } from './audit.js'
import { stream } from './queue.js'

export const verdictOn = (log: ReadonlyArray<RecordedEvent>): Verdict => {
  const verifier = new ChainVerifier(stream)
  verifier.take(log)
  return verifier.end()
}

/** EV-07: the log of queue `q`, which this version alone wrote, is one whole chain. */
export const chainIsWhole = (log: ReadonlyArray<RecordedEvent>): void => {
  const { ok, begins, unsealed, broken } = verdictOn(log)
  holds(ok, () => `EV-07: ${broken?.reason ?? ''}`)
  holds(log.length === 0 || (begins === 0 && unsealed === null), () => `EV-07: the chain begins at ${begins}, and ends before ${unsealed?.from}`)
}
