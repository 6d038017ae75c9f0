/** The stretch of time that the slider covers, and how fine it is. No browser needed. All times are milliseconds since 1970. */

export interface Frame {
  readonly from: number
  readonly to: number
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/** By name; `all`: from the first event on. */
export const frameSizes = { hour: hourMs, '6 hours': 6 * hourMs, day: dayMs, week: 7 * dayMs, '30 days': 30 * dayMs, all: Number.POSITIVE_INFINITY } as const
export type FrameSize = keyof typeof frameSizes
export const frameSizeDefault: FrameSize = 'day'

/** A log of less is drawn as if it had this much. */
const shortestMs = 10_000

export interface FrameWanted {
  readonly size: FrameSize
  /** When the first event was; `undefined` if that is not known. */
  readonly first: number | undefined
  readonly present: number
  /** Those that are shown: none for the present, two for a difference. */
  readonly moments: ReadonlyArray<number>
  /** The frame before. */
  readonly held: Frame | undefined
}

/**
 * The last hours, or the hours around what is shown if that was earlier. A frame in which it lies stays: nothing jumps while one moves within it. No frame begins
 * before the first event.
 */
export const frameOf = ({ size, first, present, moments, held }: FrameWanted): Frame => {
  const begin = Math.min(first ?? Number.NEGATIVE_INFINITY, present - shortestMs, ...moments)
  const earliest = Math.min(present, ...moments)
  const latest = moments.length === 0 ? present : Math.max(...moments)
  // Two moments that are further apart than the frame widen it.
  const length = Math.max(frameSizes[size] === Infinity ? present - Math.max(begin, present - 30 * dayMs) : frameSizes[size], latest - earliest, shortestMs)
  if (size === 'all' && first !== undefined) return { from: begin, to: present }
  if (earliest >= present - length) return { from: Math.max(begin, present - length), to: present }
  const isHeld = held !== undefined && held.to <= present && held.from <= earliest && latest <= held.to && held.to - held.from <= length
  if (isHeld) return held
  const from = Math.max(begin, Math.min((earliest + latest - length) / 2, present - length))
  return { from, to: Math.min(present, from + length) }
}

const steps = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1_800, 3_600, 7_200, 14_400, 28_800, 86_400].map((seconds) => seconds * 1_000)
const stepsMax = 1_440

/** How far an arrow key moves: a minute in a day. */
export const stepOf = ({ from, to }: Frame): number => steps.find((step) => (to - from) / step <= stepsMax) ?? (steps.at(-1) as number)

/** The ends of the slider: whole steps, so that its last place is the end of the frame. */
export const rangeOf = (frame: Frame): { readonly min: number; readonly max: number; readonly step: number } => {
  const step = stepOf(frame)
  return { min: frame.to - Math.ceil((frame.to - frame.from) / step) * step, max: frame.to, step }
}

const bucketsMax = 120
const minutes = [15, 30, 60, 120, 180, 240, 360, 480, 720]

/** How long the buckets of the picture behind it are, as reports name it. */
export const bucketOf = ({ from, to }: Frame): string => {
  const length = to - from
  const found = minutes.find((size) => length / (size * minuteMs) <= bucketsMax)
  if (found !== undefined) return String(found)
  return length / dayMs <= bucketsMax ? 'day' : length / dayMs <= 7 * bucketsMax ? 'week' : 'month'
}

/** Shares of a width, 0 to 1, that a stretch of time takes up in the frame. */
export const placeIn = ({ from, to }: Frame, begin: number, end: number): { readonly x: number; readonly width: number } => {
  const at = (time: number): number => (Math.min(to, Math.max(from, time)) - from) / (to - from)
  return { x: at(begin), width: at(end) - at(begin) }
}
