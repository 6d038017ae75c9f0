/** A count for each of the last buckets, as small bars without axes. */

export interface SparkProps {
  readonly values: ReadonlyArray<number>
  readonly status: string
  /** For screen readers and on hover: what the picture shows. */
  readonly label: string
}

const height = 24
const step = 6

export const Spark = ({ values, status, label }: SparkProps) => {
  const most = Math.max(1, ...values)
  const width = values.length * step
  return (
    <svg class="spark" viewBox={`0 0 ${width} ${height}`} width={width} height={height} role="img" aria-label={label}>
      <title>{label}</title>
      <rect class="track" y={height - 1} width={width} height="1" />
      {values.map((value, i) => (value === 0 ? null : <rect key={i} data-status={status} x={i * step} width={step - 1} y={height - Math.max(3, (value / most) * height)} height={Math.max(3, (value / most) * height)} />))}
    </svg>
  )
}
