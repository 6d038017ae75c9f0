/** Why a task is not running: every shut gate, what would change it, and when. */
import type { Explanation } from '@daybook/client'
import { queueLink } from '../../address/address.js'
import { useQueue } from '../../api/use-query.js'
import { counted, numberText } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { Moment } from '../../parts/moment.js'
import { StatusMark } from '../../parts/status.js'

/** Gates may open and shut with time alone. */
const everyMs = 5_000

export const Why = ({ queue, id }: { readonly queue: string; readonly id: string }) => {
  const shown = useQueue<Explanation>(queue, ['tasks', id, 'explain'], { everyMs })
  return (
    <section aria-labelledby="why">
      <h2 id="why">Why?</h2>
      <Loaded shown={shown}>
        {({ runnable, reasons, position, positionAtLeast, score, scoreParts }) => (
          <>
            <p>
              {runnable ? <strong>An agent that asks now gets it{position === null ? '' : position === 1 ? ': it is next' : ` after ${counted(position - 1, 'other')}`}.</strong> : <strong>No agent gets it now.</strong>}
              {positionAtLeast !== undefined && <> It has place {numberText(positionAtLeast)} or later.</>}
            </p>
            <ul class="reasons">
              {reasons.map(({ code, message, change, until, blockedBy = [] }, i) => (
                <li key={`${code}-${i}`}>
                  <p><code>{code}</code> {message}</p>
                  {change !== '' && <p class="quiet">What changes it: {change}{until !== undefined && <>, <Moment at={until} /></>}</p>}
                  {blockedBy.length > 0 && <p>{blockedBy.map((other) => <a key={other.id} class="blocker" href={queueLink(queue, 'tasks', other.id)}><StatusMark status={other.status} /> {other.id} <span class="quiet">{other.status}</span></a>)}</p>}
                </li>
              ))}
            </ul>
            {scoreParts !== null && (
              <details>
                <summary>Score {score === null ? '' : numberText(Math.round(score * 1_000) / 10)} <span class="quiet">of 100; it orders tasks of the same priority, or all tasks with policy=score</span></summary>
                <table class="score">
                  <thead><tr><th scope="col">Part</th><th scope="col" class="number">Value</th><th scope="col" class="number">Weight</th><th scope="col" class="number">Points</th></tr></thead>
                  <tbody>
                    {(['priority', 'age', 'deadline', 'blockers', 'retries'] as const).map((part) => (
                      <tr key={part}><th scope="row">{part}</th><td class="number">{scoreParts[part].value.toFixed(3)}</td><td class="number">{scoreParts[part].weight}</td><td class="number">{scoreParts[part].points.toFixed(3)}</td></tr>
                    ))}
                  </tbody>
                </table>
                <p class="quiet">{scoreParts.boost !== 1 && `Times ${scoreParts.boost}: its deadline is near. `}{scoreParts.isStarved && 'It has waited longer than the starvation limit.'}</p>
              </details>
            )}
          </>
        )}
      </Loaded>
    </section>
  )
}
