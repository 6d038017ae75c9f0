/** The groups of dead letters, by type and signature. */
import type { FailurePattern } from '@daybook/client'
import { withQuery } from '../../address/address.js'
import { numberText } from '../../parts/format.js'
import { Moment } from '../../parts/moment.js'
import { Spark } from '../../parts/spark.js'
import { StatusMark } from '../../parts/status.js'
import { shortSignature } from './group.js'

export interface GroupsProps {
  readonly patterns: ReadonlyArray<FailurePattern>
  /** By signature; `undefined` while they are not known. */
  readonly failures: ReadonlyMap<string, ReadonlyArray<number>> | undefined
}

export const Groups = ({ patterns, failures }: GroupsProps) => (
  <ol class="groups">
    {patterns.map(({ signature, type, phase, count, sample, firstAt, lastAt }) => {
      const byHour = failures?.get(signature)
      return (
        <li key={`${type} ${signature}`} class="panel">
          <p class="count"><StatusMark status="dead-letter" /> <strong>{numberText(count)}</strong></p>
          <div class="about">
            <h2><a href={withQuery({ signature, type })}>{sample === '' ? 'no error was given' : sample}</a></h2>
            <p class="quiet"><code>{type}</code>{phase !== undefined && <> · {phase}</>} · first <Moment at={firstAt} />, last <Moment at={lastAt} /> · <code title={signature}>{shortSignature(signature)}</code></p>
          </div>
          {byHour !== undefined && <Spark values={byHour} status="dead-letter" label={`failed attempts in each of the last ${byHour.length} hours: ${byHour.reduce((sum, value) => sum + value, 0)}`} />}
        </li>
      )
    })}
  </ol>
)
