/** The places of values without a neighbour. No line goes through such a value, so a chart draws it as a point. */
export const loneValues = (values: ReadonlyArray<number | null>): ReadonlyArray<number> =>
  values.flatMap((value, i) => (value !== null && (values[i - 1] ?? null) === null && (values[i + 1] ?? null) === null ? [i] : []))
