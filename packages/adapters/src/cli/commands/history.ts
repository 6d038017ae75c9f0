import { Command } from 'commander'
import type { HistoryEvent } from '../../client/index.js'
import { type Cli, examples } from '../cli.js'
import { addPictureOptions, type Canvas, canvasOf, type PictureOptions } from '../drawing/canvas.js'
import { printPicture } from '../drawing/print-picture.js'
import { timeline } from '../drawing/timeline.js'
import { createProgress } from '../progress.js'
import { clean, clock } from '../text.js'

const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/** The facts of an event, without the task's own id and without its content, which `show` prints. */
const facts = (data: unknown): string => {
  if (typeof data !== 'object' || data === null) return ''
  const { task: _, content: __, ...rest } = data as Readonly<Record<string, unknown>>
  const text = (value: unknown): string => (typeof value !== 'string' ? JSON.stringify(value) : isTime.test(value) ? clock(value).replace(' ', 'T') : value)
  return Object.entries(rest).map(([key, value]) => `${key}=${text(value)}`).join(' ')
}

/** The same as a picture. */
export const timelineOf = (canvas: Canvas, events: ReadonlyArray<HistoryEvent>): ReadonlyArray<string> =>
  timeline(canvas, events.map(({ at, type, actor, data }) => ({ at: Date.parse(at), name: type, by: clean(actor ?? '', 20), about: clean(facts(data), 500) })))

export const historyCommand = (cli: Cli): Command =>
  addPictureOptions(new Command('history'))
    .description('everything that has happened to a task, oldest first')
    .argument('<id>', 'its id, or #number')
    .addHelpText('after', examples(
      'daybook history M1-001',
      "daybook history M1-001 --json | jq '.events[].type'",
      '',
      'On a terminal it is a timeline: when each thing happened, and how long it was until the next one.',
      'A task whose retention is over is searched in the log by its id, newest events first: that takes as long as the log is.',
    ))
    .action(cli.connected<PictureOptions, [string]>(async ({ io, printer, client }, { picture }, id) => {
      const progress = createProgress(io, printer)
      const events = await client.history(id, { onSearch: (before) => progress(`reading what is older: up to revision ${before}`) })
      const canvas = canvasOf(io, printer, picture)
      if (canvas !== undefined) return printPicture(printer, canvas, timelineOf(canvas, events))
      printer.answer({ events }, () =>
        printer.table(
          [{ head: 'REVISION', leaveOut: 2 }, 'TIME', { head: 'EVENT', min: 8 }, { head: 'BY', min: 5, leaveOut: 3 }, { head: 'FACTS', min: 10, leaveOut: 1 }],
          events.map(({ revision, at, type, actor, data }) => [String(revision), clock(at), type, clean(actor ?? '', 20), clean(facts(data), 500)]),
        ))
    }))
