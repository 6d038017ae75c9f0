/** The characters that pictures in the terminal are made of. */
import type { Io } from '../io.js'

export interface Glyphs {
  /** Parts of a cell, from the smallest to a full one. */
  readonly eighths: ReadonlyArray<string>
  /** Heights of a spark line, from the lowest. */
  readonly heights: ReadonlyArray<string>
  /** Fills of the segments of a bar, so that they are told apart without colours. */
  readonly fills: ReadonlyArray<string>
  readonly yes: string
  readonly no: string
  readonly line: string
  readonly mark: string
  readonly pointer: string
  readonly branch: string
  readonly last: string
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
}

/** ASCII with `--plain`, and where the locale is said not to be UTF-8. */
export const glyphsFor = (env: Io['env'], isPlain = false): Glyphs => {
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG || ''
  return isPlain || (locale !== '' && !/utf-?8/i.test(locale)) ? ascii : unicode
}
