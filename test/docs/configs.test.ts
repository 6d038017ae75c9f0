/** The configuration files that the pages show are accepted by a server. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readServeOptions } from '@daybook/adapters/config'
import * as E from 'fp-ts/lib/Either.js'
import { afterAll, expect, test } from 'vitest'
import { root } from '../cli/program.js'

const dir = mkdtempSync(join(tmpdir(), 'daybook-configs-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** In place of the secrets that pages leave out. */
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const problemsOf = async (text: string): Promise<ReadonlyArray<string>> => {
  const file = join(dir, 'daybook.yaml')
  writeFileSync(file, text.replaceAll('whsec_…', secret))
  const read = await readServeOptions({ config: file }, { WEBHOOK_SECRET: secret })
  return E.isLeft(read) ? read.left : []
}

const configs = readdirSync(join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .flatMap((page) => [...readFileSync(join(root, 'docs', page), 'utf8').matchAll(/<!-- config -->\n```yaml\n([\s\S]*?)```/g)].map(([, text = '']) => ({ page, text })))

test('there are some', () => {
  expect(configs.map(({ page }) => page).sort()).toEqual(['alerts.md', 'memory.md', 'outcomes.md'])
})

test.each(configs)('docs/$page: its configuration file is accepted', async ({ text }) => {
  expect(await problemsOf(text)).toEqual([])
})

test('teeth: a key that is not known is found', async () => {
  expect(await problemsOf('memory: { kind: sqlite, recal: 50 }\n')).not.toEqual([])
})
