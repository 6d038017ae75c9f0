/** All statuses and their transitions. The transitions of this task are coloured, with their number and times. */
import type { Status } from '@daybook/core'
import { durationText } from '../../parts/format.js'
import { clockTime, exactTime } from '../../parts/moment.js'
import type { Visit } from './life.js'

const width = 108
const height = 40

/** The middle of each status. */
const places: Readonly<Record<Exclude<Status, 'queued'>, readonly [x: number, y: number]>> = {
  scheduled: [64, 40], blocked: [64, 160], pending: [240, 100], 'in-progress': [416, 100], waiting: [328, 200], incomplete: [416, 24],
  completed: [608, 24], 'dead-letter': [608, 100], cancelled: [608, 176], discarded: [784, 100],
}

const ways: ReadonlyArray<readonly [Exclude<Status, 'queued'>, Exclude<Status, 'queued'>]> = [
  ['scheduled', 'pending'], ['blocked', 'pending'], ['pending', 'in-progress'], ['in-progress', 'completed'], ['in-progress', 'dead-letter'], ['in-progress', 'scheduled'],
  ['in-progress', 'pending'], ['in-progress', 'waiting'], ['waiting', 'pending'], ['in-progress', 'incomplete'], ['incomplete', 'completed'], ['dead-letter', 'pending'],
  ['dead-letter', 'discarded'], ['pending', 'cancelled'], ['in-progress', 'cancelled'],
]

const placeOf = (status: Status): Exclude<Status, 'queued'> => (status === 'queued' ? 'pending' : status)

/** From border to border, bent so that the two directions are apart. */
const curve = (from: readonly [number, number], to: readonly [number, number]): string => {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]]
  const size = Math.hypot(dx, dy)
  const cut = (sign: number): number => Math.min(Math.abs(width / 2 / (dx || 1e-9)), Math.abs(height / 2 / (dy || 1e-9))) * sign
  const [x1, y1] = [from[0] + dx * cut(1), from[1] + dy * cut(1)]
  const [x2, y2] = [to[0] - dx * cut(1), to[1] - dy * cut(1)]
  const bend = Math.min(28, size / 6)
  return `M${x1} ${y1}Q${(x1 + x2) / 2 - (dy / size) * bend} ${(y1 + y2) / 2 + (dx / size) * bend} ${x2} ${y2}`
}

export const LifeDiagram = ({ visits, now }: { readonly visits: ReadonlyArray<Visit>; readonly now: number }) => {
  const taken = new Map<string, number>()
  visits.forEach(({ status }, i) => {
    const before = visits[i - 1]
    if (before !== undefined) taken.set(`${placeOf(before.status)} ${placeOf(status)}`, (taken.get(`${placeOf(before.status)} ${placeOf(status)}`) ?? 0) + 1)
  })
  const current = visits.at(-1)
  // Transitions of this task that the diagram does not have, such as the cancellation of a blocked task.
  const others = [...taken.keys()].map((key) => key.split(' ') as [Exclude<Status, 'queued'>, Exclude<Status, 'queued'>]).filter(([a, b]) => a !== b && !ways.some(([from, to]) => from === a && to === b))
  const told = visits.map(({ status, from }) => `${status}${from === undefined ? '' : ` at ${clockTime(from, now)}`}`).join(', then ')
  return (
    <figure class="life">
      <div class="table-frame" tabIndex={0} role="region" aria-label="Statuses of this task, as a picture">
        <svg viewBox="0 0 848 228" role="img" aria-label={`It was ${told}.`}>
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0.8L7.4 4L0 7.2z" class="arrow" /></marker>
            <marker id="arrow-taken" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" markerHeight="6" orient="auto-start-reverse"><path d="M0 0.8L7.4 4L0 7.2z" class="arrow taken" /></marker>
          </defs>
          {[...ways, ...others].map(([from, to]) => {
            const times = taken.get(`${from} ${to}`) ?? 0
            return <path key={`${from} ${to}`} class={times > 0 ? 'way taken' : 'way'} d={curve(places[from], places[to])} marker-end={times > 0 ? 'url(#arrow-taken)' : 'url(#arrow)'} />
          })}
          {(Object.keys(places) as ReadonlyArray<Exclude<Status, 'queued'>>).map((place) => {
            const [x, y] = places[place]
            const here = visits.filter(({ status }) => placeOf(status) === place)
            const isCurrent = current !== undefined && placeOf(current.status) === place
            const last = here.at(-1)
            return (
              <g key={place} data-status={place} class={`place${here.length > 0 ? ' visited' : ''}${isCurrent ? ' current' : ''}`} transform={`translate(${x - width / 2} ${y - height / 2})`}>
                <rect width={width} height={height} rx="8" />
                <text x={width / 2} y={last?.from === undefined ? 24 : 17}>{isCurrent && current.status === 'queued' ? 'queued' : place}{here.length > 1 ? ` ×${here.length}` : ''}</text>
                {last?.from !== undefined && <text x={width / 2} y="32" class="when">{clockTime(last.from, now)}<title>{exactTime(last.from)}</title></text>}
              </g>
            )
          })}
        </svg>
      </div>
      <figcaption class="hidden">It was {told}.</figcaption>
      <ol class="visits">
        {visits.map(({ status, from, cause }, i) => {
          const next = visits[i + 1]
          const to = next === undefined ? now : next.from
          const isEnd = ['completed', 'cancelled', 'discarded'].includes(status)
          return (
            <li key={i}>
              <span data-status={status}>{status}</span> {cause !== '' && cause !== status && <span class="quiet">{cause}</span>} {from !== undefined && <time dateTime={new Date(from).toISOString()} title={exactTime(from)} class="quiet">{clockTime(from, now)}</time>}
              {from !== undefined && to !== undefined && !isEnd && <span class="quiet"> for {durationText((to - from) / 1_000)}</span>}
            </li>
          )
        })}
      </ol>
    </figure>
  )
}
