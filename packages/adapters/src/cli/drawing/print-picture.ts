/** Prints pictures. */
import type { Printer } from '../printer.js'
import type { Canvas } from './canvas.js'

/** The lines as this terminal can show them: without UTF-8 there is no sign for a text that was cut. */
export const shownLines = ({ glyphs }: Pick<Canvas, 'glyphs'>, lines: ReadonlyArray<string>): ReadonlyArray<string> => (glyphs.hasBraille ? lines : lines.map((line) => line.replaceAll('…', '~')))

/** Prints a picture, and an empty line below it. */
export const printPicture = (printer: Pick<Printer, 'line'>, canvas: Pick<Canvas, 'glyphs'>, lines: ReadonlyArray<string>): void => {
  if (lines.length === 0) return
  for (const line of shownLines(canvas, lines)) printer.line(line)
  printer.line()
}
