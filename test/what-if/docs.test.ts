/** The example of docs/what-if.md is what the program prints. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseYaml } from '@daybook/adapters/config'
import { encodeData, streamOf } from '@daybook/adapters/engine'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { generate } from '@daybook/projections/simulate'
import { expect, test } from 'vitest'
import { root, run } from '../cli/program.js'
import { record } from '../simulate/account.js'
import { scenarioOf } from '../simulate/workloads.js'
import { rulesOf } from './recordings.js'

test('EV-06: docs/what-if.md shows what `daybook audit what-if` prints of the log of examples/agency.yaml', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'daybook-what-if-docs-'))
  try {
    const parsed = parseYaml(await readFile(join(root, 'examples/agency.yaml'), 'utf8'), 'agency.yaml')
    if (parsed._tag === 'Left') throw new Error(parsed.left.join('\n'))
    const scenario = scenarioOf(parsed.right as object)
    const { events } = record(generate(scenario), rulesOf(scenario))
    const store = await openSqliteStore({ file: join(dir, 'log.db') })
    for (let i = 0; i < events.length; i += 1_000) {
      const page = events.slice(i, i + 1_000).map((event, j) => ({ id: `event-${i + j}`, type: event.type, data: encodeData(event), metadata: JSON.stringify({ schemaVersion: 1, at: new Date(event.at).toISOString() }) }))
      expect(await store.append(streamOf('agency'), page, 'any')()).toMatchObject({ _tag: 'Right' })
    }
    await store.close()
    const { code, out } = await run(['audit', 'what-if', '--store', join(dir, 'log.db'), '--queue', 'agency', '--set', 'capacity.maxConcurrentAgents=30'])
    expect(code).toBe(0)
    const [, shown] = /<!-- output -->\n```\n([\s\S]*?)```/.exec(await readFile(join(root, 'docs/what-if.md'), 'utf8')) ?? []
    expect(shown, 'put the new output on the page').toBe(out)
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})
