import { readFile } from 'node:fs/promises'
import { dataDirDefault } from '@daybook/adapters/config'
import { expect, test } from 'vitest'

test('git ignores the default data folder of `npm start`, because it contains tokens', async () => {
  const ignored = await readFile(new URL('../../.gitignore', import.meta.url), 'utf8')
  expect(ignored.split('\n')).toContain(`${dataDirDefault}/`)
})
