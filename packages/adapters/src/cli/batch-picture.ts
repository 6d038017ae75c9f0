/** Pictures of how far a batch is. */
import { plural } from '@daybook/core/common'
import type { BatchView } from '../client/index.js'
import { cellsOf } from './drawing/bars.js'
import type { Glyphs } from './drawing/glyphs.js'
import type { Colors } from './printer.js'
import type { Painted } from './table.js'

/** What its tasks count as, in the order of the bar. */
const parts = [
  ['completed', 'completed', 'green'],
  ['cancelled', 'cancelled', 'dim'],
  ['discarded', 'discarded', 'dim'],
  ['deadLetters', 'dead letters', 'red'],
] as const

const percent = (progress: number): string => `${Math.floor(progress * 100)} %`

/** `██████▓▓░░░░  61 %`: each part has its own fill, so that they are told apart without colours. */
export const batchCell = (glyphs: Glyphs, colors: Colors, batch: BatchView, width: number): Painted => {
  const cells = cellsOf(parts.map(([name]) => batch[name]), batch.tasks, width)
  const filled = parts.map((_, i) => (glyphs.fills[i] as string).repeat(cells[i] as number)).join('')
  // A table may have cut the text, but each character tells its part.
  const painted = (run: string, letter: string): string => {
    const part = parts[glyphs.fills.indexOf(letter)]
    return part !== undefined ? colors[part[2]](run) : letter === glyphs.line ? colors.dim(run) : run
  }
  return { text: `${filled.padEnd(width, glyphs.line)}  ${percent(batch.progress)}`, paint: (text) => text.replace(/(.)\1*/gu, painted) }
}

export const batchBar = (...of: Parameters<typeof batchCell>): string => {
  const { text, paint } = batchCell(...of)
  return paint(text)
}

/** `61 of 100 tasks, 2 dead letters`. */
export const batchTally = (batch: BatchView): string => {
  const over = batch.completed + batch.cancelled + batch.discarded
  const told = parts.slice(1).flatMap(([name, words]) => (batch[name] > 0 ? [`${batch[name]} ${words}`] : []))
  return [`${over} of ${plural(batch.tasks, 'task')} finished`, ...told].join(', ')
}
