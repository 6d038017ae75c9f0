import { readFile } from 'node:fs/promises'
import { dataDirDefault } from '@daybook/adapters/config'
import { expect, test } from 'vitest'

test('what `npm start` writes without being told where is not git’s: it holds tokens', async () => {
  const ignored = await readFile(new URL('../../.gitignore', import.meta.url), 'utf8')
  expect(ignored.split('\n')).toContain(`${dataDirDefault}/`)
})
