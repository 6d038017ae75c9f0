/** The figures and pictures of docs/simulation.md are those of its example. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pictureNames } from '@daybook/projections/simulate'
import { expect, test } from 'vitest'
import { root, run } from '../cli/program.js'

test('SIM: docs/simulation.md shows what `daybook simulate examples/agency.yaml` prints and draws', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-pictures-'))
  try {
    const { code, out } = await run(['simulate', join(root, 'examples/agency.yaml'), '--svg', folder])
    expect(code).toBe(0)
    const page = await readFile(join(root, 'docs/simulation.md'), 'utf8')
    const [, shown] = /<!-- output -->\n```\n([\s\S]*?)```/.exec(page) ?? []
    expect(shown, 'put the new output on the page').toBe(out)
    for (const name of pictureNames) {
      const drawn = await readFile(join(folder, `${name}.svg`), 'utf8')
      expect(await readFile(join(root, `docs/simulation/${name}.svg`), 'utf8'), 'daybook simulate examples/agency.yaml --svg docs/simulation').toBe(drawn)
      expect(page).toContain(`(simulation/${name}.svg)`)
    }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
