/** States over time, as one strip. Each has its hue. Its name is shown where there is room, and on hover. */
import { durationText } from './format.js'
import { clockTime } from './moment.js'

export interface Stretch {
  readonly state: string
  /** Milliseconds since 1970. */
  readonly from: number
  readonly to: number
  readonly why?: string
}

export interface StripProps {
  readonly stretches: ReadonlyArray<Stretch>
  readonly from: number
  readonly to: number
  readonly label: string
}

/** Heights differ as well, because colour alone must not carry meaning. */
const heights: Readonly<Record<string, number>> = { open: 20, 'half-open': 12, closed: 4 }

export const Strip = ({ stretches, from, to, label }: StripProps) => {
  const at = (time: number): number => ((Math.min(to, Math.max(from, time)) - from) / (to - from)) * 100
  return (
    <figure class="strip">
      <svg viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label={label}>
        {stretches.map((stretch) => {
          const height = heights[stretch.state] ?? 8
          return (
            <rect key={stretch.from} data-status={stretch.state} x={at(stretch.from)} width={Math.max(0.4, at(stretch.to) - at(stretch.from))} y={20 - height} height={height}>
              <title>{`${stretch.state} from ${clockTime(stretch.from)} for ${durationText((stretch.to - stretch.from) / 1_000)}${stretch.why === undefined ? '' : `: ${stretch.why}`}`}</title>
            </rect>
          )
        })}
      </svg>
      <figcaption><span>{clockTime(from)}</span><span>{clockTime(to)}</span></figcaption>
    </figure>
  )
}
