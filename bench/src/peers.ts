/**
 * Runs the same load on BullMQ, pg-boss and graphile-worker, with the peers' own scripts. Their servers must be
 * running (see the README of those scripts). Each figure is that of the best durable peer.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

interface PeerRun {
  readonly script: string
  readonly args: ReadonlyArray<string>
  readonly who: string
}

const best = {
  'bullmq-always': '{"concurrency":300}',
  'pgboss-on': '{"concurrency":4,"batch":500}',
  'graphile-on': '{"concurrency":24,"batch":500}',
} as const

/** The peers' figures by name: the runs, and the field of the result. */
const runs: Readonly<Record<string, { readonly runs: ReadonlyArray<PeerRun>; readonly field: string; readonly ours: string; readonly less: boolean }>> = {
  'enqueue, 256 in flight': {
    runs: [{ who: 'BullMQ', script: 'b-enqueue-concurrent.mjs', args: ['--variant', 'bullmq-always', '--n', '50000'] }],
    field: 'jobs_per_s',
    ours: 'tasks/s',
    less: false,
  },
  'enqueue in bulk': {
    runs: [
      { who: 'graphile-worker', script: 'b-enqueue-concurrent.mjs', args: ['--variant', 'graphile-on', '--bulk', '500', '--par', '4'] },
    ],
    field: 'jobs_per_s',
    ours: 'tasks/s',
    less: false,
  },
  'drain of 50,000': {
    runs: [
      { who: 'graphile-worker, not in strict order', script: 'c-drain.mjs', args: ['--variant', 'graphile-on', '--worker', best['graphile-on']] },
      { who: 'BullMQ, strict', script: 'c-drain.mjs', args: ['--variant', 'bullmq-always', '--worker', best['bullmq-always']] },
    ],
    field: 'jobs_per_s',
    ours: 'tasks/s',
    less: false,
  },
  'drain of 500,000': {
    runs: [
      { who: 'graphile-worker', script: 'c-drain.mjs', args: ['--variant', 'graphile-on', '--n', '500000', '--limit', '100', '--worker', best['graphile-on']] },
    ],
    field: 'jobs_per_s',
    ours: 'tasks/s',
    less: false,
  },
  'enqueue, one at a time': {
    runs: [{ who: 'BullMQ', script: 'a-enqueue-sequential.mjs', args: ['--variant', 'bullmq-always'] }],
    field: 'p50_ms',
    ours: 'p50 ms',
    less: true,
  },
  'enqueue → handler start': {
    runs: [{ who: 'BullMQ', script: 'd-latency.mjs', args: ['--variant', 'bullmq-always', '--worker', best['bullmq-always']] }],
    field: 'p50_ms',
    ours: 'p50 ms',
    less: true,
  },
}

export interface PeerFigure {
  readonly who: string
  readonly value: number
  /** Our figure to compare with. */
  readonly ours: string
  readonly less: boolean
}

/** Empty if there is nothing to compare. Rejects if a peer's script fails. */
export const runPeers = async (folder: string, peer: string): Promise<ReadonlyArray<PeerFigure>> => {
  const plan = runs[peer]
  if (plan === undefined) return []
  const figures: Array<PeerFigure> = []
  const own = join(folder, 'node_modules/node/bin/node')
  for (const { who, script, args } of plan.runs) {
    const { stdout } = await run(existsSync(own) ? own : process.execPath, [join(folder, script), ...args], { cwd: folder, timeout: 300_000 })
    const line = stdout.trim().split('\n').at(-1) ?? '{}'
    const value: unknown = (JSON.parse(line) as Record<string, unknown>)[plan.field]
    if (typeof value === 'number') figures.push({ who, value, ours: plan.ours, less: plan.less })
  }
  return figures
}
