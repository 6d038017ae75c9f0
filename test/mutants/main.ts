/** `npm run mutants`: see `options.ts`. The first argument is the repository's root, from `scripts/run.mjs`. */
import { chosen, help, type Options, readOptions } from './options.js'
import { allPlants } from './plants/index.js'
import { provenBy } from './proven.js'
import { type Result, runPlants, type Verdict } from './run-plants.js'

const [root = '.', ...args] = process.argv.slice(2)
const say = (line: string): void => void process.stdout.write(`${line}\n`)

const kinds: ReadonlyArray<Verdict['kind']> = ['killed', 'survived', 'stale', 'unproven', 'unloadable', 'hung']

/** Shortens a failure message, which may contain a whole history. */
const short = (text: string): string => (text.length > 500 ? `${text.slice(0, 500)} …` : text)

const show = ({ plant, verdict, seconds }: Result): void => {
  const { kind } = verdict
  say(`${(kind === 'killed' ? kind : kind.toUpperCase()).padEnd(10)} ${plant.title}  (${seconds.toFixed(1)} s)`)
  if (kind === 'killed') say(`           by: ${verdict.by}`)
  else say(`           ${plant.file}; ${kind === 'survived' ? `not noticed by ${plant.killedBy.join(', ')}` : short(verdict.why)}`)
}

const main = async (options: Options): Promise<number> => {
  const plants = chosen(allPlants, options)
  if (options.list) {
    for (const { title, file } of plants) say(`${file}: ${title}`)
    return 0
  }
  if (plants.length === 0) throw new Error(`none of the ${allPlants.length} plants is meant: see --list`)
  const aborted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => aborted.abort(new Error(`ended by ${signal}`)))
  const began = performance.now()
  say(`${plants.length} of ${allPlants.length} plants${options.tenth === undefined ? '' : `, tenth ${options.tenth}`}`)
  const isProven = options.proven === undefined ? {} : { isProven: provenBy(options.proven, root) }
  const results = await runPlants(root, plants, { ...options, ...isProven, onResult: show, signal: aborted.signal })
  const counts = kinds.map((kind) => [kind, results.filter(({ verdict }) => verdict.kind === kind).length] as const)
  const others = results.filter(({ verdict }) => verdict.kind !== 'killed')
  if (others.length > 0) say('\nnot killed:')
  others.forEach(show)
  const told = counts.filter(([kind, count]) => kind === 'killed' || count > 0).map(([kind, count]) => `${count} ${kind}`)
  const left = plants.length - results.length
  if (left > 0) told.push(`${left} not begun within ${options.withinMs / 60_000} minutes`)
  say(`\n${told.join(', ')}, in ${Math.round((performance.now() - began) / 1_000)} s`)
  return others.length === 0 ? 0 : 1
}

try {
  const options = readOptions(args, root)
  if (options.help) say(help)
  else process.exitCode = await main(options)
} catch (error) {
  process.stderr.write(`mutants: ${(error as Error).message}\n`)
  process.exitCode = 2
}
