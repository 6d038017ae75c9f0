/** What a picture is drawn on: a width, characters, and colours. */
import type { Command } from 'commander'
import type { Io } from '../io.js'
import type { Colors, Printer } from '../printer.js'
import { type Cell, type Column, layoutOf, lineOf, type Row } from '../table.js'
import { type Glyphs, glyphsFor } from './glyphs.js'

export type Paint = (text: string) => string

export interface Style {
  readonly colors: Colors
  readonly glyphs: Glyphs
}

export interface Canvas extends Style {
  /** In columns of the terminal. No line of a picture is wider. */
  readonly width: number
}

export interface PictureOptions {
  readonly picture?: boolean
}

export const addPictureOptions = (command: Command): Command =>
  command
    .option('--picture', 'draw a picture also where the output is no terminal')
    .option('--no-picture', 'print only what is printed in a pipe')

/** Of what is not a terminal. */
const widthDefault = 100
/** On wider terminals, eyes lose the line. */
const widthMax = 200

/** The canvas of a command's output. `undefined` where tables alone are printed: in a pipe, with `--json`, and with `--no-picture`; `--picture` draws in a pipe, too. */
export const canvasOf = (io: Pick<Io, 'env' | 'outIsTerminal'>, { isJson, colors, width }: Pick<Printer, 'isJson' | 'colors' | 'width'>, wanted: boolean | undefined): Canvas | undefined => {
  const isDrawn = !isJson && (wanted ?? (io.outIsTerminal && io.env.TERM !== 'dumb'))
  return isDrawn ? { colors, glyphs: glyphsFor(io.env), width: Math.min(width ?? widthDefault, widthMax) } : undefined
}

/** A text cut to a width. */
export const fit = (text: Cell, columns: number): string => lineOf(layoutOf([{ head: '', min: 1 }], [[text]], columns), [text])

/** Rows under each other, without headings, as wide as the canvas. */
export const rowsOn = ({ width }: Pick<Canvas, 'width'>, columns: ReadonlyArray<Column>, rows: ReadonlyArray<Row>): ReadonlyArray<string> => {
  const layout = layoutOf(columns, rows, width)
  return rows.map((row) => lineOf(layout, row))
}
