/**
 * The pictures of docs/console.md. `RECORD=1 npm run test:only -- test/console/pictures` takes them anew; look at them before you commit them. Without that, the files
 * are checked alone: fonts differ between machines, so pictures are not compared.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { openTab, type Tab } from './open-page.js'
import { pageRows } from './pages.js'
import { useConsoleServer } from './server.js'

const folder = fileURLToPath(new URL('../../docs/pictures', import.meta.url))
const page = fileURLToPath(new URL('../../docs/console.md', import.meta.url))
const bytesMax = 60 * 1_024

/** Each page once, and two of them dark. A group of dead letters is a part of their page. */
const light = pageRows.filter(({ name }) => name !== 'dead-letter-group')
const dark = light.filter(({ name }) => name === 'now' || name === 'task')

/** What the window shows, as WebP: a tenth of what PNG takes. The log has most letters: it gets what fits. */
const take = async ({ page: shown }: Tab, name: string): Promise<void> => {
  const session = await shown.context().newCDPSession(shown)
  for (const quality of [80, 60, 40, 20]) {
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality })
    const bytes = Buffer.from(data, 'base64')
    writeFileSync(join(folder, name), bytes)
    if (bytes.length <= bytesMax) break
  }
  await session.detach()
}

describe.skipIf(withoutBrowser || process.env['RECORD'] !== '1')('the pictures of the documents', () => {
  const server = useConsoleServer()
  const browser = useBrowser()

  test('are taken', async () => {
    const { url, tokens } = server()
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder)
    for (const [colorScheme, rows, end] of [['light', light, ''], ['dark', dark, '-dark']] as const) {
      const tab = await openTab(browser, url, tokens.ada, { colorScheme, viewport: { width: 1_200, height: 760 } })
      for (const { name, path, shows } of rows) {
        await tab.visit(path, shows)
        await take(tab, `${name}${end}.webp`)
      }
    }
  })
})

test('each picture of the console is small, and stands in its document, with words for who cannot see it', () => {
  const shown = [...readFileSync(page, 'utf8').matchAll(/!\[([^\]]*)\]\(pictures\/([^)]+)\)/g)].map(([, words = '', file = '']) => ({ words, file }))
  expect(shown.length).toBeGreaterThan(10)
  expect(readdirSync(folder).sort()).toEqual(shown.map(({ file }) => file).sort())
  for (const { words, file } of shown) {
    expect(words.length, `the words for ${file}`).toBeGreaterThan(20)
    expect(statSync(join(folder, file)).size, file).toBeLessThanOrEqual(bytesMax)
  }
})
