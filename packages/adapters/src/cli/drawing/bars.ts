/** Bars and sparklines, as text of a known width. */
import type { Glyphs } from './glyphs.js'

const partOf = (value: number, most: number): number => (most > 0 && value > 0 ? Math.min(1, value / most) : 0)

/** A bar of at most `width` cells for `value` out of `most`. A value above 0 shows at least the smallest part of a cell. */
export const barOf = (glyphs: Glyphs, value: number, most: number, width: number): string => {
  const steps = glyphs.eighths.length
  const part = partOf(value, most)
  if (part === 0) return ''
  const filled = Math.max(1, Math.round(part * width * steps))
  const rest = filled % steps
  return (glyphs.eighths[steps - 1] as string).repeat(Math.floor(filled / steps)) + (rest === 0 ? '' : (glyphs.eighths[rest - 1] as string))
}

/** The number of cells of each value in a bar of `width` cells for `most`. Each value above 0 gets at least one cell, and together they fit. */
export const cellsOf = (values: ReadonlyArray<number>, most: number, width: number): ReadonlyArray<number> => {
  const cells = values.map((value) => (value > 0 ? Math.max(1, Math.round(partOf(value, most) * width)) : 0))
  for (let over = cells.reduce((sum, each) => sum + each, 0) - width; over > 0; over--) {
    const widest = cells.indexOf(Math.max(...cells))
    cells[widest] = (cells[widest] as number) - 1
  }
  return cells
}

/** One character for each value, whose height is in proportion to the highest value; a blank for `null`. */
export const sparkOf = (glyphs: Glyphs, values: ReadonlyArray<number | null>, most = Math.max(0, ...values.map((value) => value ?? 0))): string =>
  values.map((value) => (value === null ? ' ' : (glyphs.heights[Math.round(partOf(value, most) * (glyphs.heights.length - 1))] as string))).join('')
