/** Clocks of browsers: set back while somebody looks, or wrong all the time; and searches for ages, which depend on the time. */
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

const hourMs = 3_600_000

describe.skipIf(withoutBrowser)('the clock of a browser', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ada)
    await tab.page.clock.install()
  })

  test('may be set back: what is shown goes on with the queue', async () => {
    const { page } = tab
    await tab.visit('/q/default/agents', 'mailer-1')
    await page.clock.setSystemTime(Date.now() - hourMs)
    await server().admin.agents.register({ agentId: 'after-the-jump', types: ['*'], ttlSeconds: 3_600 })
    await page.clock.runFor(10_000)
    await page.getByText('after-the-jump').first().waitFor()
    expectQuiet(tab.watched)
  })
})
