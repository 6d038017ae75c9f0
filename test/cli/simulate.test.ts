/** `daybook simulate`: needs no server. */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Simulation } from '@daybook/projections/simulate'
import { expect, test } from 'vitest'
import { root, run, runHere } from './program.js'

const small = `
name: small
duration: 2h
settings: { capacity: { maxConcurrentAgents: 4 } }
streams:
  - { type: work, tenant: { a: 1, b: 1 }, priority: { HIGH: 1, LOW: 1 }, arrivals: { perHour: 300 }, duration: { exponential: 1m }, deadline: 5m, failures: { probability: 0.1 } }
agents:
  - { name: all, count: 6 }
`
const simulate = (args: ReadonlyArray<string>, input = small) => runHere(['simulate', '-', ...args], {}, input)

test('SIM: --example prints the scenario that is in examples/', async () => {
  const { code, out, err } = await runHere(['simulate', '--example'])
  expect([code, err]).toEqual([0, ''])
  expect(out).toBe(await readFile(join(root, 'examples/agency.yaml'), 'utf8'))
})

test('SIM: the program prints the figures of a scenario, twice the same, without a server', async () => {
  const first = await run(['simulate', '-'], {}, small)
  expect([first.code, first.err]).toEqual([0, ''])
  expect(first.out).toMatch(/^small: 2h, seed 1, \d+ tasks\n/)
  expect(first.out).toContain('note: there are 6 agents, and capacity.maxConcurrentAgents lets 4 of them work at a time')
  expect(first.out).toMatch(/THESE SETTINGS +PLAIN FIFO +STRICT PRIORITY/)
  for (const part of ['Waits by priority', 'Waits by tenant', 'Shares of claims', 'Agents', 'starvation limit']) expect(first.out).toContain(part)
  expect((await run(['simulate', '-'], {}, small)).out).toBe(first.out)
})

test('SIM: --json has the same figures; --seed and --set change them', async () => {
  const json = async (...args: ReadonlyArray<string>): Promise<Simulation> => JSON.parse((await simulate(['--json', ...args])).out) as Simulation
  const plain = await json()
  const { settings } = plain.policies
  expect((await simulate([])).out).toContain(`small: 2h, seed 1, ${settings.arrived} tasks`)
  expect(settings.completed + settings.all.deadLetters + settings.waitingAtEnd + settings.runningAtEnd).toBe(settings.arrived)
  expect((await json('--seed', '2')).policies.settings.arrived).not.toBe(settings.arrived)
  const more = await json('--set', 'capacity.maxConcurrentAgents=6', '--set', 'assignment.tenants.a=4')
  expect(more.policies.settings.arrived).toBe(settings.arrived)
  expect(more.policies.settings.all.waits.p95).toBeLessThan(settings.all.waits.p95)
  expect(more.policies.settings.fairness.tenants.map(({ weight }) => weight)).toEqual([4, 1])
  expect(more.notes).toEqual([])
})

test('SIM: --svg draws pictures in a folder, and says which; without the right to write there it fails', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-svg-'))
  try {
    const { code, err } = await simulate(['--svg', join(folder, 'a', 'b')])
    expect(code).toBe(0)
    const files = await readdir(join(folder, 'a', 'b'))
    expect(files.sort()).toEqual(['agents.svg', 'deadlines.svg', 'waiting-by-priority.svg', 'waiting-by-tenant.svg', 'waits.svg'])
    for (const file of files) expect(err).toContain(join(folder, 'a', 'b', file))
    await writeFile(join(folder, 'file'), '')
    const refused = await simulate(['--svg', join(folder, 'file')])
    expect([refused.code, refused.out, refused.err]).toEqual([1, '', expect.stringMatching(/^daybook: the pictures cannot be written: /)])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})

test('SIM: what is wrong is said with its place, with exit code 2', async () => {
  const wrong = async (args: ReadonlyArray<string>, input?: string) => {
    const { code, err } = await runHere(['simulate', ...args], {}, input)
    return `${code} ${err}`
  }
  expect(await wrong([])).toBe('2 daybook: which scenario? daybook simulate --example prints one to begin with\n')
  expect(await wrong(['nowhere.yaml'])).toMatch(/^2 daybook: nowhere\.yaml cannot be read/)
  expect(await wrong(['-'], 'streams: [')).toMatch(/^2 daybook: standard input: /)
  expect(await wrong(['-'], small.replace('exponential', 'exponental'))).toMatch(/^2 daybook: standard input: streams\[0\]\.duration\.exponental is not a field here/)
  expect(await wrong(['-', '--seed', '4294967296'], small)).toContain('a whole number below 4294967296 is wanted')
  expect(await wrong(['-', '--set', 'policy=fifo'], small)).toMatch(/^2 daybook: policy must be one of priority, score/)
})
