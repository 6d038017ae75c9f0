/**
 * `npm run bench`: runs every case several times, each run in its own process and folder, and prints a table of medians
 * with their spread. See `npm run bench -- --help`.
 */
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Case, Figures } from './case.js'
import { cases } from './cases/index.js'
import { percentile } from './measure.js'
import { type PeerFigure, runPeers } from './peers.js'

const help = `npm run bench -- [OPTIONS]

  --only NAME[,NAME]   only these cases: ${cases.map(({ name }) => name).join(', ')}
  --runs N             runs of each case (default 3)
  --scale SHARE        so much of the load (1 is all)
  --quick              a fiftieth of the load, one run: shows that it works, not how fast
  --peers FOLDER       run the peers' scripts in FOLDER beside each case that has a peer, in turn
  --json FILE          write all figures as JSON
`

/**
 * Options of every measured process, peers included. Node starts four threads for compilation and garbage collection, however few the cores. On few
 * cores the writing thread then waits for one of them for a time slice of 3 ms, which shows in the p99. 0 means one thread fewer than cores. With a
 * million tasks, collecting the young generation costs 4 ms however little it contains, so it is 64 MiB and not 16.
 */
const nodeOptions = '--v8-pool-size=0 --max-semi-space-size=64'

const runCase = (name: string, scale: number): Promise<Figures> =>
  new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), ['--case', name, '--scale', String(scale)], {
      execArgv: ['--max-old-space-size=4096', '--expose-gc'],
    })
    let figures: Figures | undefined
    child.on('message', (message) => (figures = message as Figures))
    child.on('exit', (code) =>
      figures === undefined ? reject(new Error(`${name} ended with ${code} and without figures`)) : resolve(figures),
    )
  })

const child = async (name: string, scale: number): Promise<void> => {
  const chosen = cases.find((one) => one.name === name)
  if (chosen === undefined) throw new Error(`no case ${name}`)
  const folder = mkdtempSync(join(tmpdir(), `daybook-bench-${name}-`))
  try {
    const figures = await chosen.run(folder, scale)
    process.send?.(figures)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  process.disconnect?.()
}

const shown = (value: number): string =>
  value >= 1_000 ? Math.round(value).toLocaleString('en-US') : value >= 100 ? value.toFixed(0) : value.toFixed(2)

interface Row {
  readonly case: string
  readonly what: string
  readonly figure: string
  readonly values: ReadonlyArray<number>
  readonly goal: string
  readonly reached: boolean | undefined
  readonly peers: ReadonlyArray<{ readonly who: string; readonly values: ReadonlyArray<number>; readonly ratio: number }>
}

const rowsOf = (one: Case, runs: ReadonlyArray<Figures>, peers: ReadonlyArray<ReadonlyArray<PeerFigure>>): ReadonlyArray<Row> =>
  Object.keys(runs[0] ?? {}).map((figure) => {
    const values = runs.map((run) => run[figure] ?? Number.NaN)
    const median = percentile(values, 0.5)
    const goal = one.goals[figure]
    const held = (peers[0] ?? []).filter((peer) => peer.ours === figure)
    return {
      case: one.name,
      what: one.what,
      figure,
      values,
      goal: goal === undefined ? '' : `${goal[0]} ${shown(goal[1])}`,
      reached: goal === undefined ? undefined : goal[0] === '≥' ? median >= goal[1] : median <= goal[1],
      peers: held.map(({ who, less }) => {
        const theirs = peers.flatMap((run) => run.filter((peer) => peer.who === who).map(({ value }) => value))
        const middle = percentile(theirs, 0.5)
        return { who, values: theirs, ratio: less ? middle / median : median / middle }
      }),
    }
  })

const printRow = (row: Row): void => {
  const spread = row.values.length > 1 ? ` (${shown(Math.min(...row.values))}–${shown(Math.max(...row.values))})` : ''
  const verdict = row.reached === undefined ? '' : row.reached ? `  reached ${row.goal}` : `  MISSED ${row.goal}`
  const peers = row.peers.map(({ who, values, ratio }) => `  ${ratio.toFixed(2)} × ${who} (${shown(percentile(values, 0.5))})`)
  process.stdout.write(`  ${row.figure.padEnd(20)} ${shown(percentile(row.values, 0.5)).padStart(10)}${spread}${verdict}${peers.join('')}\n`)
}

const main = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string' },
      runs: { type: 'string', default: '3' },
      quick: { type: 'boolean', default: false },
      peers: { type: 'string' },
      json: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
      case: { type: 'string' },
      scale: { type: 'string', default: '1' },
    },
  })
  if (values.help) return void process.stdout.write(help)
  if (values.case !== undefined) return child(values.case, Number(values.scale))
  process.env['NODE_OPTIONS'] = `${nodeOptions} ${process.env['NODE_OPTIONS'] ?? ''}`
  const only = values.only?.split(',')
  const chosen = cases.filter(({ name, onlyNamed }) => (only === undefined ? onlyNamed !== true : only.includes(name)))
  if (chosen.length === 0) throw new Error(`no such case; there are: ${cases.map(({ name }) => name).join(', ')}`)
  const runs = values.quick ? 1 : Number(values.runs)
  const scale = values.quick ? 0.02 : Number(values.scale)
  const cpu = cpus()[0]?.model ?? 'unknown CPU'
  const machine = `${cpus().length} × ${cpu}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`
  process.stdout.write(`${machine}; node ${nodeOptions}; SQLite with synchronous=FULL; ${runs} run(s) of each, median (spread)\n`)
  if (values.quick) process.stdout.write('a quick look: a fiftieth of the load, so the figures say little\n')
  const rows: Array<Row> = []
  for (const one of chosen) {
    process.stdout.write(`\n${one.name}: ${one.what}\n`)
    const ours: Array<Figures> = []
    const theirs: Array<ReadonlyArray<PeerFigure>> = []
    for (let i = 0; i < runs; i++) {
      ours.push(await runCase(one.name, scale))
      if (values.peers !== undefined && one.peer !== undefined) theirs.push(await runPeers(values.peers, one.peer))
    }
    const found = rowsOf(one, ours, theirs)
    found.forEach(printRow)
    rows.push(...found)
  }
  const missed = rows.filter(({ reached }) => reached === false)
  if (!values.quick) process.stdout.write(`\n${rows.filter(({ reached }) => reached).length} goals reached, ${missed.length} missed\n`)
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify({ machine, date: new Date().toISOString(), runs, rows }, null, 2)}\n`)
}

await main()
