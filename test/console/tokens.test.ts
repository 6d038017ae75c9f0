/** Tokens that somebody has chosen, or has not copied whole. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { openTab } from './open-page.js'
import { tablesShowAll } from './tables-show-all.js'
import { expectQuiet } from './watch-page.js'

/** As `openssl rand -base64` makes them. A subprotocol cannot have `/` and `=`. */
const chosen = 'q7/Zk+3x9LmPw0aB5tYvC1dEfGhIjKlMnOpQrStUvW8='

describe.skipIf(withoutBrowser)('a token', () => {
  const browser = useBrowser()
  let dir = ''
  let server: Awaited<ReturnType<typeof serve>>
  let admin: DaybookClient
  beforeAll(async () => {
    if (withoutBrowser) return
    dir = mkdtempSync(join(tmpdir(), 'daybook-console-tokens-'))
    server = await serve({ host: '127.0.0.1', port: 0, dataDir: dir, store: { kind: 'sqlite', file: join(dir, 'daybook.sqlite'), sharing: 'exclusive' }, auth: 'tokens', token: chosen, checkpoints: 'off', memory: { kind: 'off' } })
    admin = createClient({ url: server.url, token: chosen })
    await admin.enqueue({ type: 'mail', id: 'first' })
    // Until its tables are built, a server answers 503 to reports, and a page that asks too early has errors in its console.
    await tablesShowAll(admin)
  })
  afterAll(async () => {
    await admin?.close()
    await server?.close()
    if (dir !== '') rmSync(dir, { recursive: true, force: true })
  })

  test('that is base64 has live messages like any other', async () => {
    const { page, visit, watched } = await openTab(browser, server.url, encodeURIComponent(chosen))
    await visit('/q/default/tasks', 'first')
    await page.locator('.connection[data-state="open"]').waitFor()
    await admin.enqueue({ type: 'mail', id: 'second', payload: 2 })
    await page.getByText('second').first().waitFor()
    expectQuiet(watched)
  })

  test('that has a + may be pasted behind # as it is', async () => {
    const { page, watched } = await openTab(browser, server.url, chosen.replaceAll('/', '%2F'))
    await page.getByRole('heading', { name: 'Now' }).waitFor()
    expectQuiet(watched)
  })

  test('that no header can carry is refused in words, and is not kept', async () => {
    const { page, watched } = await openTab(browser, server.url, encodeURIComponent('dbk_…'))
    const words = 'that is no token: it has characters that no token has. Was it copied whole?'
    expect(await page.getByRole('alert').textContent()).toBe(words)
    await page.reload()
    expect(await page.getByRole('alert').count()).toBe(0)
    await page.getByLabel('Token').fill('“dbk_1”')
    await page.getByRole('button', { name: 'Open the console' }).click()
    expect(await page.getByRole('alert').textContent()).toBe(words)
    await page.getByLabel('Token').fill(chosen)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByRole('heading', { name: 'Now' }).waitFor()
    expectQuiet(watched, [/status of 401/])
  })
})
