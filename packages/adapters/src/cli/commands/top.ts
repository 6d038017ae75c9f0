/** `daybook top`: a live screen of all queues. */
import { Command } from 'commander'
import { setTimeout as delay } from 'node:timers/promises'
import { type Cli, examples } from '../cli.js'
import { glyphsFor } from '../drawing/glyphs.js'
import { noteUnused } from '../note-unused.js'
import type { Figures } from '../top/figures.js'
import { printedFrame } from '../top/frame.js'
import { liveTop } from '../top/live.js'
import { Source } from '../top/source.js'
import { firstState } from '../top/state.js'
import { secondsFrom } from '../values.js'

interface Options {
  readonly interval: number
  readonly once?: boolean
  readonly plain?: boolean
}

/** The pause between the two samples of `--once`, because rates need two. In milliseconds. */
const onceMs = 1_000
const widthDefault = 120

export const topCommand = (cli: Cli): Command =>
  new Command('top')
    .description('a live screen: depth, rates, waits, agents, breakers and alerts of all queues')
    .option('-i, --interval <seconds>', 'between two looks', secondsFrom(0.2), 2)
    .option('--once', 'print one frame (the default without a terminal)')
    .option('--plain', 'draw with ASCII characters only')
    .addHelpText('after', examples(
      'daybook top',
      'daybook top --interval 0.5',
      'daybook top --once --plain',
      "daybook top --json | jq '.queues[] | {name, arrivals}'",
      '',
      'Keys: q quits, up and down select a queue, enter opens it, s sorts, space pauses, ? tells more. It needs a token that may read all queues.',
    ))
    .action(cli.connected<Options>(async ({ io, printer, client, connection }, { interval, once = false, plain = false }) => {
      const source = new Source(client, connection)
      const style = { colors: printer.colors, glyphs: glyphsFor(io.env, plain) }
      const everyMs = interval * 1_000
      const terminal = once || printer.isJson ? undefined : io.liveTerminal()
      if (terminal !== undefined) {
        return liveTop({ io, terminal, style, url: connection.url, everyMs, selected: connection.namedQueue, look: (state) => source.figures(state) })
      }
      const state = { ...firstState, selected: connection.namedQueue }
      await source.figures(state)
      await delay(onceMs)
      const figures: Figures = await source.figures(state)
      printer.answer(figures, () => {
        for (const line of printedFrame(style, { url: connection.url, everyMs, state, figures, problem: undefined }, printer.width ?? widthDefault)) printer.line(line)
      })
      if (!printer.isJson && state.selected !== undefined && !figures.queues.some(({ name }) => name === state.selected)) await noteUnused(printer, client)
    }))
