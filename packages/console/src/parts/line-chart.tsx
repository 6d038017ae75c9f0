/** Values over time, with uPlot. Colours are those of statuses. Each line also has its own stroke, and its name in the legend. */
import { useEffect, useRef } from 'preact/hooks'
import UPlot from 'uplot'
import { colours } from './theme.js'
import { shortNumber } from './format.js'
import { loneValues } from './lone-values.js'

export interface ChartLine {
  readonly label: string
  /** Whose hue it has. */
  readonly status: string
  /** A value for each time; `null` where there is none. */
  readonly values: ReadonlyArray<number | null>
  readonly dash?: ReadonlyArray<number>
  /** Fills the area under the line. */
  readonly isFilled?: boolean
}

export interface LineChartProps {
  /** Seconds since 1970, ascending. */
  readonly times: ReadonlyArray<number>
  readonly lines: ReadonlyArray<ChartLine>
  /** For screen readers: what the picture shows. */
  readonly label: string
  /** Pixels. Default 120. */
  readonly height?: number
  /** Default: axes and a legend. */
  readonly isSmall?: boolean
  /** The text of a value beside the axis. Default: whole numbers. */
  readonly textOf?: (value: number) => string
}

const colourOf = (root: HTMLElement, status: string): string => {
  const probe = document.createElement('span')
  probe.className = 'colour-probe'
  probe.setAttribute('data-status', status)
  root.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

/** Counts have no marks between whole numbers: rounded, two marks would have the same text. */
const wholeNumber = (value: number): string => (Number.isInteger(value) ? shortNumber(value) : '')

export const LineChart = ({ times, lines, label, height = 120, isSmall = false, textOf = wholeNumber }: LineChartProps) => {
  const root = useRef<HTMLDivElement>(null)
  const { value: palette } = colours
  useEffect(() => {
    const at = root.current
    if (at === null) return undefined
    const ink = getComputedStyle(at).color
    const grid = colourOf(at, 'grid')
    const plain = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: '12px system-ui, sans-serif' }
    const plot = new UPlot(
      {
        width: at.clientWidth || 160,
        height,
        ...(isSmall ? { padding: [2, 0, 2, 0] as [number, number, number, number] } : {}),
        legend: { show: !isSmall, live: true },
        cursor: { show: !isSmall, drag: { x: false, y: false } },
        scales: { y: { range: (_, __, max) => [0, Math.max(max, 0.001) * 1.08] } },
        axes: isSmall ? [{ show: false }, { show: false }] : [plain, { ...plain, size: textOf === wholeNumber ? 56 : 80, values: (_, marks) => marks.map(textOf) }],
        series: [
          {},
          ...lines.map(({ label: name, status, values, dash, isFilled = false }) => {
            const stroke = colourOf(at, status)
            return { label: name, stroke, width: 1.5, points: { show: false, filter: [...loneValues(values)], size: 5, fill: stroke }, ...(dash === undefined ? {} : { dash: [...dash] }), ...(isFilled ? { fill: stroke.replace(/^rgb\((.+)\)$/, 'rgba($1, 0.16)') } : {}) }
          }),
        ],
      },
      [[...times], ...lines.map(({ values }) => [...values])] as UPlot.AlignedData,
      at,
    )
    const resized = new ResizeObserver(() => plot.setSize({ width: at.clientWidth || 160, height }))
    resized.observe(at)
    return () => {
      resized.disconnect()
      plot.destroy()
    }
  }, [JSON.stringify([times, lines]), palette, height])
  return <div class={isSmall ? 'chart small' : 'chart'} ref={root} role="img" aria-label={label} />
}
