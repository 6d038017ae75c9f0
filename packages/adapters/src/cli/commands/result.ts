import { Command } from 'commander'
import { isSettled } from '@daybook/core/common'
import type { DaybookClient, TaskResult } from '../../client/index.js'
import { type Cli, examples } from '../cli.js'
import { exitCodes } from '../exit-codes.js'
import { throughOutage } from '../outage.js'
import type { Printer } from '../printer.js'
import { clean, jsonText } from '../text.js'
import { secondsFrom } from '../values.js'

interface Options {
  readonly wait: number
}

/** The longest wait of the server in one request, in seconds. */
const waitMax = 60

export const resultCommand = (cli: Cli): Command =>
  new Command('result')
    .description('the result of a task, once it has one')
    .argument('<id>', 'its id, or #number')
    .option('--wait <seconds>', 'how long to wait until it is completed, cancelled, discarded or a dead letter', secondsFrom(0), 0)
    .addHelpText('after', examples(
      'daybook result M1-001',
      "daybook result M1-001 --wait 600 --json | jq .result.output",
      '',
      'Prints the result as JSON. Exit code 0 if the task is completed, otherwise 1, with its status on standard error.',
    ))
    .action(cli.connected<Options, [string]>(async ({ printer, client }, { wait }, id) => {
      const { status, result, error } = await patiently(client, printer, id, wait)
      printer.answer({ status, result, error }, () => {
        if (result !== undefined) printer.line(jsonText(result))
      })
      if (status === 'completed') return exitCodes.done
      printer.note(`daybook: ${clean(id)} is ${status}${error === undefined ? '' : `: ${clean(error)}`}`)
      return exitCodes.refused
    }))

const patiently = async (client: DaybookClient, printer: Printer, id: string, wait: number): Promise<TaskResult> => {
  const endsAt = performance.now() + wait * 1_000
  for (;;) {
    const left = (): number => Math.max(0, endsAt - performance.now()) / 1_000
    const isLast = left() <= waitMax
    const found = await throughOutage(() => client.result(id, { wait: Math.min(waitMax, Math.round(left() * 1_000) / 1_000) }), printer, endsAt)
    if (isSettled(found.status) || isLast) return found
  }
}
