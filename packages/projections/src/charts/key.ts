/** The key of a picture: lines of names with their swatches. */
import { label, width } from './frame.js'
import { widthOf } from './theme.js'

export interface KeyEntry {
  readonly name: string
  /** Draws the swatch, 20 wide. The point is the middle of its left side. */
  readonly swatch: (x: number, y: number) => string
}

const [left, right, lineHeight] = [16, 16, 18]

/** The lines of the key. The first line is at `top`. */
export const keyLines = (entries: ReadonlyArray<KeyEntry>, top: number): { readonly drawn: ReadonlyArray<string>; readonly height: number } => {
  let [x, lines] = [left, entries.length === 0 ? 0 : 1]
  const drawn = entries.map(({ name, swatch }) => {
    const needs = 26 + widthOf(name, 11.5)
    if (x > left && x + needs > width - right) {
      x = left
      lines++
    }
    const y = top + (lines - 1) * lineHeight
    const said = swatch(x, y) + label(x + 26, y + 4, name, 'text small')
    x += needs + 16
    return said
  })
  return { drawn, height: lines * lineHeight }
}
