/** The characters of pictures in the terminal. */
import type { Io } from '../io.js'

export interface Glyphs {
  /** Parts of a cell, from the smallest to a full cell. */
  readonly eighths: ReadonlyArray<string>
  /** Heights of a sparkline, from the lowest. */
  readonly heights: ReadonlyArray<string>
  /** Fills of the segments of a bar, which can be told apart without colours. */
  readonly fills: ReadonlyArray<string>
  readonly yes: string
  readonly no: string
  readonly line: string
  readonly mark: string
  readonly pointer: string
  readonly branch: string
  readonly last: string
  /** The corner and the wall of an axis. */
  readonly corner: string
  readonly wall: string
  /** A value that is compared with a bar. */
  readonly due: string
  /** Whether the dots of Braille can be drawn with. */
  readonly hasBraille: boolean
}

const unicode: Glyphs = {
  eighths: ['▏', '▎', '▍', '▌', '▋', '▊', '▉', '█'],
  heights: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
  fills: ['█', '▓', '▒', '░', '▞'],
  yes: '✓',
  no: '✗',
  line: '─',
  mark: '●',
  pointer: '▸',
  branch: '├',
  last: '└',
  corner: '└',
  wall: '│',
  due: '┃',
  hasBraille: true,
}

/** For terminals and fonts without these characters. */
const ascii: Glyphs = {
  eighths: ['#'],
  heights: ['_', '.', '-', '=', '#'],
  fills: ['#', '=', '-', '.', 'x'],
  yes: '+',
  no: 'x',
  line: '-',
  mark: 'o',
  pointer: '>',
  branch: '|',
  last: '`',
  corner: '+',
  wall: '|',
  due: '|',
  hasBraille: false,
}

/** ASCII with `--plain`, and if the locale says that the terminal is not UTF-8. */
export const glyphsFor = (env: Io['env'], isPlain = false): Glyphs => {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || ''
  return isPlain || (locale !== '' && !/utf-?8/i.test(locale)) ? ascii : unicode
}
