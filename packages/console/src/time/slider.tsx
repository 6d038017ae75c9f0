/** The track of time with one handle, or two that are compared; behind them what was done when. */
import type { Report } from '@daybook/client'
import { useEffect, useRef, useState } from 'preact/hooks'
import { pathOf } from '../address/url.js'
import { useQuestion } from '../api/use-query.js'
import { fullTime } from '../parts/moment.js'
import { bucketOf, type Frame, placeIn, rangeOf } from './frame.js'

/** A moment is shown when the handle has rested for so long: nothing is asked for those on the way. */
const restMs = 250

export interface HandleProps {
  readonly label: string
  /** Milliseconds since 1970; `undefined` for the present. */
  readonly value: number | undefined
  readonly frame: Frame
  /** Whether the end of the frame is the present. */
  readonly endsNow: boolean
  /** Where it has been let go: `undefined` for the present. */
  readonly onMove: (value: number | undefined) => void
  /** Where it is while it moves. */
  readonly onDraft: (value: number | undefined) => void
}

export const Handle = ({ label, value, frame, endsNow, onMove, onDraft }: HandleProps) => {
  const [draft, setDraft] = useState<number | undefined>(undefined)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const range = rangeOf(frame)
  const at = draft ?? value ?? range.max
  const isNow = (place: number): boolean => endsNow && place >= range.max
  const draw = (place: number | undefined): void => {
    // Whoever takes the handle again before it has rested goes on from there.
    clearTimeout(timer.current)
    setDraft(place)
    onDraft(place)
  }
  const settle = (place: number): void => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => {
      draw(undefined)
      onMove(isNow(place) ? undefined : place)
    }, restMs)
  }
  return (
    <input
      type="range" aria-label={label} {...range} value={at} aria-valuetext={isNow(at) ? 'now' : fullTime(at)}
      onInput={({ currentTarget }) => draw(Number(currentTarget.value))} onChange={({ currentTarget }) => settle(Number(currentTarget.value))}
    />
  )
}

const quarterMs = 900_000
const iso = (ms: number): string => new Date(ms).toISOString()
const height = 100
/** Of the picture: what was completed stands above the line, what became a dead letter below it. */
const line = 74

/** Where reports are off there is none. */
export const Picture = ({ queue, frame }: { readonly queue: string; readonly frame: Frame }) => {
  const [from, to] = [Math.floor(frame.from / quarterMs) * quarterMs, Math.ceil(frame.to / quarterMs) * quarterMs]
  const { value } = useQuestion<Report>({
    path: pathOf(['api', 'queues', queue, 'reports', 'throughput']),
    query: { from: iso(from), to: iso(to), bucket: bucketOf(frame), zone: Intl.DateTimeFormat().resolvedOptions().timeZone },
    everyMs: 60_000,
  })
  const rows = value?.rows ?? []
  const most = Math.max(1, ...rows.map(({ completed }) => Number(completed)))
  const worst = Math.max(1, ...rows.map(({ deadLettered }) => Number(deadLettered)))
  return (
    <svg viewBox={`0 0 1000 ${height}`} preserveAspectRatio="none" aria-hidden="true">
      {rows.map((row) => {
        const { x, width } = placeIn(frame, Date.parse(String(row['from'])), Date.parse(String(row['to'])))
        const [done, dead] = [(Number(row['completed']) / most) * line, (Number(row['deadLettered']) / worst) * (height - line)]
        const place = { x: x * 1_000, width: Math.max(1, width * 1_000 - 1) }
        return (
          <g key={row['from']}>
            {done > 0 && <rect class="done" data-status="completed" {...place} y={line - done} height={done} />}
            {dead > 0 && <rect data-status="dead-letter" {...place} y={line} height={dead} />}
          </g>
        )
      })}
      <rect class="axis" width="1000" y={line - 1} height="1" />
    </svg>
  )
}
