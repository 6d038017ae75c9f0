/** Lengths of time as people write them. */
import * as t from 'io-ts'

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const form = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/
const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g
const msMax = 10 * 365 * unitMs.d

/** The span in milliseconds; `undefined` if it is not valid. A number is in seconds. */
const read = (span: unknown): number | undefined => {
  if (typeof span === 'number') return Math.round(span * 1_000)
  if (typeof span !== 'string' || !form.test(span)) return undefined
  let ms = 0
  for (const [, amount, unit] of span.matchAll(part)) ms += Number(amount) * unitMs[unit as keyof typeof unitMs]
  return Math.round(ms)
}
const isSpan = (min: number) => (span: unknown): span is string | number => {
  const ms = read(span)
  return ms !== undefined && ms >= min && ms <= msMax
}

const spanFrom = (min: number, name: string): t.Type<string | number, string | number, unknown> =>
  new t.Type(name, isSpan(min), (input, context) => (isSpan(min)(input) ? t.success(input) : t.failure(input, context)), t.identity)

/** Seconds as a number, or a text such as `90s`, `1h30m` or `250ms`; at most ten years. */
export const Span = spanFrom(0, 'length of time: seconds, or a text such as 90s, 15m or 1h30m')
export const PositiveSpan = spanFrom(1, 'length of time above zero: seconds, or a text such as 90s, 15m or 1h30m')
export type Span = t.TypeOf<typeof Span>

/** The milliseconds of a valid span. */
export const msOf = (span: Span): number => read(span) as number
