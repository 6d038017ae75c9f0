/** `daybook watch`: what happens in a queue, as it happens. */
import { Command, InvalidArgumentError } from 'commander'
import type { WatchMessage } from '../../client/index.js'
import { codeOf } from '@daybook/client/internal'
import { type Cli, examples } from '../cli.js'
import { messageEvents } from '../../http/websocket/message-events.js'
import { UsageError } from '../exit-codes.js'
import { noteUnused } from '../note-unused.js'
import { didYouMean } from '../suggest/nearest.js'
import { clean, clock } from '../text.js'
import { filledList, positive } from '../values.js'

interface Options {
  readonly from: string
  readonly events?: ReadonlyArray<string>
  readonly limit?: number
}

/** A mistyped name would let nothing through, and the command would wait for ever. */
const eventList = (text: string, before?: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = filledList(text, before)
  const wrong = names.find((name) => !(messageEvents as ReadonlyArray<string>).includes(name))
  if (wrong !== undefined) throw new InvalidArgumentError(`the events are ${messageEvents.join(', ')}${didYouMean(wrong, messageEvents)}`)
  return names
}

export const watchCommand = (cli: Cli): Command =>
  new Command('watch')
    .description('what happens in the queue, as it happens: tasks, agents, breakers, alerts')
    .option('--from <revision>', 'also what has happened since this revision; 0 is the beginning', 'end')
    .option('--events <names>', 'only these, with commas: task_completed,alert_raised', eventList)
    .option('-n, --limit <n>', 'end after so many', positive)
    .addHelpText('after', examples(
      'daybook watch',
      'daybook watch --from 0 --events task_completed',
      'daybook watch --json | jq .payload',
      '',
      'It connects again whenever the connection ends, from where it was: nothing is missed. Ctrl-C ends it.',
    ))
    .action(cli.connected<Options>(async ({ io, printer, client }, { from, events, limit = Number.POSITIVE_INFINITY }) => {
      if (!/^(end|\d{1,15})$/.test(from)) throw new UsageError('--from must be a revision, or end')
      // Later it waits for a server that is away. At the start, no answer may mean a wrong address. A refusal is an answer: a proxy may not pass probes on.
      await client.health().catch((error: unknown) => {
        if (codeOf(error) === 'unreachable') throw error
      })
      if (!printer.isJson) await noteUnused(printer, client)
      const ended = new AbortController()
      const forget = io.onSignal(() => ended.abort())
      let left = limit
      try {
        for await (const message of client.watch({ from: from === 'end' ? 'end' : Number(from), signal: ended.signal })) {
          if (events !== undefined && !events.includes(message.event)) continue
          io.out(printer.isJson ? `${JSON.stringify(message)}\n` : `${lineOf(message)}\n`)
          await io.flushed()
          if (--left === 0) return
        }
      } finally {
        forget()
      }
    }))

const lineOf = ({ event, timestamp, revision, payload }: WatchMessage): string =>
  `${clock(timestamp)}  ${String(revision).padStart(6)}  ${event.padEnd(20)} ${Object.entries(payload)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}=${clean(typeof value === 'string' ? value : JSON.stringify(value), 120)}`)
    .join(' ')}`
