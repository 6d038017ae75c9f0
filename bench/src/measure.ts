/** Tools for all cases: time, percentiles, memory, the load. */
import { readFileSync } from 'node:fs'

/** Monotonic milliseconds, comparable between processes on one machine. */
export const nowMs = (): number => Number(process.hrtime.bigint()) / 1e6

export const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Nearest-rank percentile; `share` in [0, 1]. */
export const percentile = (values: ReadonlyArray<number>, share: number): number => {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN
}

export const perSecond = (count: number, ms: number): number => (count / ms) * 1_000

/** Resident memory of a process, in MiB. */
export const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1_024

let seed = 12_345
const random = (): number => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0) / 4_294_967_296

/** Random priorities from 1 to 10, the same sequence in every process. */
export const nextPriority = (): number => 1 + Math.floor(random() * 10)

/** About 300 bytes of JSON, the same as for the peers. */
export const payload = (i: number, priority: number) => ({
  type: 'code.change',
  priority,
  goal: `Make the flaky scheduler test number ${i} pass without raising its time-out`,
  target: { repo: 'acme/orders', path: 'services/scheduler/src/retry.ts', ref: 'main', line: 100 + (i % 900) },
  constraints: { maxMinutes: 30, network: false, tools: ['read', 'edit', 'test'], budget: 1.25 },
})

let made = 0

/** A task with different content from all others of this process, so that none is a duplicate. */
export const newTask = () => {
  const priority = nextPriority()
  return { type: 'code.change', priority, payload: payload(made++, priority) }
}

/** Runs `work(i)` for i = 0 … count−1, `width` at a time. Returns the milliseconds it took. */
export const inParallel = async (count: number, width: number, work: (i: number) => Promise<unknown>): Promise<number> => {
  let next = 0
  const start = nowMs()
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < count) await work(next++)
    }),
  )
  return nowMs() - start
}
