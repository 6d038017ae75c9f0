/** Pictures of how far a batch is. */
import { plural } from '@daybook/core/common'
import type { BatchView } from '../client/index.js'
import { cellsOf } from './drawing/bars.js'
import type { Glyphs } from './drawing/glyphs.js'
import type { Colors } from './printer.js'

/** What its tasks count as, in the order of the bar. */
const parts = [
  ['completed', 'completed', 'green'],
  ['cancelled', 'cancelled', 'dim'],
  ['discarded', 'discarded', 'dim'],
  ['deadLetters', 'dead letters', 'red'],
] as const

const percent = (progress: number): string => `${Math.floor(progress * 100)} %`

/** `██████▓▓░░░░  61 %`: each part has its own fill, so that they are told apart without colours. */
export const batchBar = (glyphs: Glyphs, colors: Colors, batch: BatchView, width: number): string => {
  const cells = cellsOf(parts.map(([name]) => batch[name]), batch.tasks, width)
  const filled = parts.map(([, , color], i) => colors[color]((glyphs.fills[i] as string).repeat(cells[i] as number)))
  const left = Math.max(0, width - cells.reduce((sum, each) => sum + each, 0))
  return `${filled.join('')}${colors.dim(glyphs.line.repeat(left))}  ${percent(batch.progress)}`
}

/** `61 of 100 tasks, 2 dead letters`. */
export const batchTally = (batch: BatchView): string => {
  const over = batch.completed + batch.cancelled + batch.discarded
  const told = parts.slice(1).flatMap(([name, words]) => (batch[name] > 0 ? [`${batch[name]} ${words}`] : []))
  return [`${over} of ${plural(batch.tasks, 'task')} finished`, ...told].join(', ')
}
