/** Axes: round ends of scales, labels that have room, and values that share a column. */

/** The least round number (1, 2, 2.5 or 5 times a power of ten) that is not less. 1 for nothing. */
export const roundUp = (most: number): number => {
  if (!(most > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= most * (1 - 1e-9)) ?? 10
  return step * power
}

const lengths = [1, 2, 5, 10, 20, 30, 60, 120, 180, 300, 600, 900, 1_200, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400]

/** The same for a length of time, in the lengths that people count in: 3 minutes, and not 200 seconds. */
export const roundUpSeconds = (most: number): number => (most <= 1 ? roundUp(most) : (lengths.find((length) => length >= most) ?? 86_400 * roundUp(most / 86_400)))

export interface Point {
  /** Of its place on the axis: a time, for example. */
  readonly label: string
  /** `null`: nothing is known. */
  readonly value: number | null
}

/** Neighbours together, so that there are at most `most` points: each has the first label and, as the value, what `join` makes of theirs. */
export const joined = (points: ReadonlyArray<Point>, most: number, join: (values: ReadonlyArray<number>) => number): ReadonlyArray<Point> => {
  const each = Math.ceil(points.length / Math.max(1, most))
  if (each <= 1) return points
  return Array.from({ length: Math.ceil(points.length / each) }, (_, i) => {
    const some = points.slice(i * each, (i + 1) * each)
    const values = some.flatMap(({ value }) => (value === null ? [] : [value]))
    return { label: some[0]?.label ?? '', value: values.length === 0 ? null : join(values) }
  })
}
export const total = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0)
export const greatest = (values: ReadonlyArray<number>): number => values.reduce((most, value) => Math.max(most, value), 0)

/** Labels on one line, each begun at the cell of its point. The first and as many others as have room with two blanks between them. */
export const labelLine = (labels: ReadonlyArray<readonly [cell: number, text: string]>, width: number): string => {
  let line = ''
  for (const [cell, text] of labels) {
    if ((line !== '' && cell < line.length + 2) || cell + text.length > width) continue
    line = line.padEnd(cell) + text
  }
  return line
}
