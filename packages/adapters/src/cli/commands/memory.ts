/** `daybook memory`: memories of completions with discoveries or errors. */
import { Command } from 'commander'
import type { Memory } from '../../client/index.js'
import { defined } from '../../defined.js'
import { type Cli, examples } from '../cli.js'
import { clean, since } from '../text.js'
import { positive } from '../values.js'

/** One memory as one line. */
export const memoryLine = ({ task, at, ticketId, goal, summary, discoveries = [], errors = [] }: Memory): string => {
  const found = [...discoveries.map(discoveryText), ...errors]
  const of = [task, ticketId, at === undefined ? undefined : since(at)].filter((part) => part !== undefined).join(', ')
  const done = [goal, summary].filter((part) => part !== undefined).join(' → ')
  return clean([`${of}: ${done}`, ...found].join(' | '), 500)
}

/** A discovery may have any shape. */
const discoveryText = (each: unknown): string => {
  if (typeof each === 'string') return each
  const { type, details } = (each ?? {}) as { readonly type?: unknown; readonly details?: unknown }
  return typeof type === 'string' && typeof details === 'string' ? `${type}: ${details}` : JSON.stringify(each)
}

interface Options {
  readonly ticket?: string
  readonly limit?: number
}

const search = (cli: Cli): Command =>
  new Command('search')
    .description('what is remembered: of a ticket, and what fits the words best; without both, the newest')
    .argument('[words...]', 'what it is about')
    .option('--ticket <id>', 'of this ticket')
    .option('-n, --limit <n>', 'at most so many', positive, 20)
    .addHelpText('after', examples('daybook memory search login tokens', 'daybook memory search --ticket T-1 --json'))
    .action(cli.connected<Options, [ReadonlyArray<string>]>(async ({ printer, client }, { ticket, limit }, words) => {
      const memories = await client.memories(defined({ q: words.length === 0 ? undefined : words.join(' '), ticketId: ticket, limit }))
      printer.answer({ memories }, () => {
        if (memories.length === 0) printer.nothing('nothing is remembered that fits')
        for (const memory of memories) printer.line(memoryLine(memory))
      })
    }))

export const memoryCommand = (cli: Cli): Command =>
  new Command('memory').description('what was found in earlier tasks: completions with discoveries or errors').addCommand(search(cli), { isDefault: true })
