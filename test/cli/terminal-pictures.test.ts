/** Commands draw on a terminal, and print in a pipe what they always printed there; `--json` is the same everywhere. */
import type { Io } from '@daybook/adapters/cli'
import { beforeAll, describe, expect, test } from 'vitest'
import { until } from '../worker/memory-source.js'
import { serverOfFile } from './program.js'

const server = serverOfFile()
/** A terminal of 90 columns; without colours, so that its lines can be measured. */
const onTerminal = (): Partial<Io> => ({ outIsTerminal: true, columns: () => 90, env: { ...server.env, NO_COLOR: '1', LANG: 'C.UTF-8' } })
const drawn = /[\u2500-\u259f\u2800-\u28ff●✓✗]/

beforeAll(async () => {
  await server.daybook(['settings', 'set', 'decisionReport=optional'])
  for (const args of [['eng', '--id', 'fetch'], ['eng', '--id', 'build', '--depends-on', 'fetch'], ['eng', '--id', 'deploy', '--depends-on', 'build'], ['mail', '--id', 'done']]) await server.daybook(['enqueue', ...args, '--payload', args.join()])
  await server.daybook(['claim', '--agent', 'ann', '--types', 'mail'])
  await server.daybook(['complete', 'done', '--agent', 'ann', '--lease', '1'])
  await until(async () => (await server.daybook(['report', '--at-least', '6'])).code === 0, 'the tables of reports')
})

const commands: ReadonlyArray<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>]> = [
  ['report', ['report', 'throughput', '--bucket', 'total', '--at-least', '1'], ['tasks', 'completed']],
  ['report over time', ['report', 'latency', '--bucket', 'hour', '--at-least', '1'], ['how long tasks waited', 'p99']],
  ['explain', ['explain', 'deploy'], ['✗ dependencies', '▸ to change it: the completion of build', 'deploy waits for', '└─ build (blocked)', '   └─ fetch (pending)']],
  ['history', ['history', 'done'], ['from the first event to the last', 'Claimed', '●']],
  ['audit log of a task', ['audit', 'log', '--task', 'done'], ['from the first event to the last', 'Claimed', '●']],
  ['audit state', ['audit', 'state'], ['tasks by status', 'completed']],
  ['audit diff', ['audit', 'diff'], ['changes of status', 'new → completed']],
]

describe.each(commands)('%s', (_, args, shown) => {
  const said = async (more: ReadonlyArray<string>, world?: Partial<Io>): Promise<string> => {
    const { code, out, err } = await server.daybook([...args, ...more], '', world)
    if (code !== 0) throw new Error(err)
    // A task is older each time it is looked at, and the moment is another second.
    return out.replace(/^(age|score|time) .*/gm, '$1')
  }

  test('on a terminal it draws, as wide as that', async () => {
    const out = await said([], onTerminal())
    for (const text of shown) expect(out).toContain(text)
    expect(out).toMatch(drawn)
    expect(out.split('\n').filter((line) => drawn.test(line) && [...line].length > 90)).toEqual([])
  })

  test('in a pipe it prints what --no-picture prints, and draws nothing that it did not', async () => {
    const piped = await said([])
    // The age has more digits a moment later, which makes its column wider.
    const withoutWidths = (text: string): string => text.replace(/ {2,}/g, '  ')
    expect(withoutWidths(piped)).toBe(withoutWidths(await said(['--no-picture'])))
    for (const text of shown.filter((each) => /from the first|how long tasks|waits for$|by status|changes of/.test(each))) expect(piped).not.toContain(text)
  })

  test('--picture draws in a pipe, too; --json is JSON whatever else is said', async () => {
    expect(await said(['--picture'])).toMatch(drawn)
    const json: unknown = JSON.parse(await said(['--json', '--picture'], onTerminal()))
    expect(Object.keys(json as object)).toEqual(Object.keys(JSON.parse(await said(['--json'])) as object))
  })
})

test('without UTF-8 it draws in ASCII', async () => {
  const { out } = await server.daybook(['explain', 'deploy', '--picture'], '', { env: { ...server.env, LC_ALL: 'C' } })
  expect(out).toContain('x dependencies')
  const [picture = ''] = out.split('PART')
  expect(picture).toMatch(/^[\n\x20-\x7e]*$/)
})
