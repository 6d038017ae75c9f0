import { Command } from 'commander'
import type { Explanation, ScorePart, ScoreParts } from '../../client/index.js'
import { askedBy, type ClaimOptions } from '../claim-options.js'
import { type Cli, examples } from '../cli.js'
import { addPictureOptions, canvasOf, type PictureOptions } from '../drawing/canvas.js'
import { printPicture } from '../drawing/print-picture.js'
import { blockersOf, readBlockers } from '../explain/blockers.js'
import { changeText, ladderOf, reasonText } from '../explain/ladder.js'
import type { Printer } from '../printer.js'
import type { Row } from '../table.js'
import { clean } from '../text.js'
import { filledList, list } from '../values.js'

export const explainCommand = (cli: Cli): Command =>
  addPictureOptions(new Command('explain'))
    .description('why a task is not running: all reasons, what would change each, its position and its score')
    .argument('<id>', 'its id, or #number')
    .option('--agent <name>', 'for a claim of this agent')
    .option('--types <patterns>', 'for a claim of these types: exact, eng-* or *, with commas', filledList)
    .option('--phases <names>', 'for a claim of these phases', filledList)
    .option('--skills <names>', 'for an agent with these skills', list)
    .option('--tenant <name>', 'for a claim of this tenant')
    .addHelpText('after', examples(
      'daybook explain M1-001',
      "daybook explain '#42' --agent mailer-1 --types 'mail*'   # why does this agent not get it?",
      "daybook explain M1-001 --json | jq '.reasons[].code'",
      '',
      'Without such options it answers for an agent that asks for everything and has all skills. With any of them it answers for',
      'exactly that claim: without --skills, for an agent that has none.',
      '',
      'On a terminal it is a ladder: the gates that the task has passed, those that hold it, and the tasks that it waits for as a tree.',
    ))
    .action(cli.connected<ClaimOptions & PictureOptions, [string]>(async ({ io, printer, client }, options, id) => {
      const asked = askedBy(options)
      const explanation = await client.explain(id, asked)
      const canvas = canvasOf(io, printer, options.picture)
      if (canvas === undefined) return printer.answer(explanation, () => printExplanation(printer, id, explanation))
      printer.line(`${clean(id)} ${sentence(explanation)}`)
      printer.line()
      printPicture(printer, canvas, ladderOf(canvas, explanation, Object.keys(asked).length > 0))
      printPicture(printer, canvas, blockersOf(canvas, id, await readBlockers(client, explanation)))
      printScore(printer, explanation)
    }))

const printExplanation = (printer: Printer, id: string, explanation: Explanation): void => {
  printer.line(`${clean(id)} ${sentence(explanation)}`)
  printer.line()
  for (const reason of explanation.reasons) {
    printer.line(`- ${reasonText(reason)}`)
    printer.line(`  ${printer.colors.dim(`to change it: ${changeText(reason)}`)}`)
  }
  if (explanation.scoreParts !== null) printer.line()
  printScore(printer, explanation)
}

const printScore = (printer: Printer, { scoreParts, score }: Explanation): void => {
  if (scoreParts === null || score === null) return
  printer.table(['PART', 'VALUE', 'WEIGHT', 'POINTS'], scoreRows(scoreParts, score))
}

const sentence = ({ status, runnable, position, positionAtLeast }: Explanation): string => {
  if (position === 1) return 'can be claimed now. It is next.'
  if (position !== null) return `can be claimed now. It is number ${position} in the order of claims.`
  if (runnable) return `can be claimed now. It is number ${positionAtLeast ?? 1} or later in the order of claims.`
  return `is ${status} and cannot be claimed now:`
}

const scoreRows = ({ boost, floor, isStarved, ...parts }: ScoreParts, score: number): ReadonlyArray<Row> => [
  ...Object.entries<ScorePart>(parts).map(([name, { value, weight, points }]) => [name, text(value), text(weight), text(points)]),
  ['boost', `×${text(boost)}`, '', ''],
  ...(isStarved ? [['starved', floor === null ? 'yes' : `at least ${text(floor)}`, '', '']] : []),
  ['score', '', '', text(score)],
]
const text = (value: number): string => String(Math.round(value * 1e4) / 1e4)
