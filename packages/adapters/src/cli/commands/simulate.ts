import { readFile } from 'node:fs/promises'
import type { FieldError } from '@daybook/core'
import { picturesOf, readScenario, type Scenario, simulate } from '@daybook/projections/simulate'
import { Command } from 'commander'
import * as E from 'fp-ts/lib/Either.js'
import { parseYaml } from '../../config/index.js'
import { type Cli, examples } from '../cli.js'
import { cannotRead, UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { patchOf } from '../setting-paths.js'
import { exampleScenario } from '../simulation/example.js'
import { drawPictures } from '../simulation/pictures.js'
import { printSimulation } from '../simulation/report.js'
import { seedNumber } from '../values.js'

interface Options {
  readonly example?: boolean
  readonly seed?: number
  readonly set?: ReadonlyArray<string>
  readonly svg?: string
}

export const simulateCommand = (cli: Cli): Command =>
  new Command('simulate')
    .description('a virtual day of a fleet, to try settings on: waits, deadlines, shares of tenants, use of agents')
    .argument('[file]', 'the scenario in YAML, or - for standard input')
    .option('--example', 'print a scenario to begin with')
    .option('--seed <number>', 'another day of the same kind (default: that of the file, or 1)', seedNumber)
    .option('--set <key=value>', 'a setting on top of the file\'s, as in daybook settings set; repeatable', (text, before: ReadonlyArray<string> = []) => [...before, text])
    .option('--svg <folder>', 'also draw pictures there: waiting tasks, waits, deadlines, agents')
    .addHelpText('after', examples(
      'daybook simulate --example > agency.yaml',
      'daybook simulate agency.yaml',
      'daybook simulate agency.yaml --set policy=score --set assignment.tenants.beta=3',
      'daybook simulate agency.yaml --svg pictures',
      'daybook simulate agency.yaml --json | jq .policies.settings.deadLetters',
      '',
      'The scenario says which tasks come, how long they take and how often they fail, and which agents work when. The day runs in virtual time',
      'through the code that decides in a server: the same claims, retries, breakers, limits and leases. No server is needed, and nothing is stored.',
      'The same tasks also run as plain FIFO and by strict priority, so that you see what the settings change. The same file and seed give the',
      'same figures. docs/simulation.md tells what the figures mean, and what the model leaves out.',
    ))
    .action(cli.local<Options, [string | undefined]>(async (printer, { example, seed, set, svg }, _, file) => {
      if (example === true) return void cli.io.out(exampleScenario)
      if (file === undefined) throw new UsageError('which scenario? daybook simulate --example prints one to begin with')
      const scenario = await readFileOf(file, cli.io)
      const patch = set === undefined ? {} : patchOf(set)
      const simulation = simulate(scenario, { patch, ...(seed === undefined ? {} : { seed }) })
      const pictures = svg === undefined ? [] : await drawPictures(picturesOf(simulation), svg)
      printer.answer(simulation, () => printSimulation(printer, simulation))
      if (pictures.length > 0) printer.note(`pictures: ${pictures.join(', ')}`)
    }))

const readFileOf = async (file: string, io: Io): Promise<Scenario> => {
  const name = file === '-' ? 'standard input' : file
  const parsed = parseYaml(await (file === '-' ? io.input() : readFile(file, 'utf8')).catch(cannotRead(name)), name)
  if (E.isLeft(parsed)) throw new UsageError(parsed.left.join('\n'))
  const scenario = readScenario(parsed.right)
  if (E.isLeft(scenario)) throw new UsageError(scenario.left.map(({ path, message }: FieldError) => `${name}: ${path === '(body)' ? 'the scenario' : path} ${message}`).join('\n'))
  return scenario.right
}
