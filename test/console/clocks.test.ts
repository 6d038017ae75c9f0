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

  test('may be wrong: ages and countdowns are by the time of the server', async () => {
    for (const wrongMs of [hourMs, -hourMs]) {
      const other = await openTab(browser, server().url, server().tokens.ada)
      await other.page.clock.install({ time: Date.now() + wrongMs })
      const id = `by-a-clock-${wrongMs}`
      await server().admin.enqueue({ id, type: 'clock-smith', deduplicate: 'off', availableAt: new Date(Date.now() + 2.5 * hourMs) })
      await other.visit(`/q/default/tasks/${id}`, 'not before')
      const facts = (await other.page.locator('.facts').textContent()) ?? ''
      expect(facts).toMatch(/enqueued(now|\d+ s ago)/)
      expect(facts).toMatch(/not beforein 2 h/)
      expectQuiet(other.watched)
    }
  })

  test('goes on while tasks of a search for an age are selected: they stay so, and the list stays where it is', async () => {
    const { page } = tab
    await page.clock.setSystemTime(Date.now())
    await tab.visit('/q/default/tasks?q=age:>1m+type:eng-*', 'tasks')
    const boxes = page.getByRole('checkbox', { name: /^select / })
    await boxes.first().check()
    await page.getByText('1 selected:').waitFor()
    tab.watched.forget()
    await page.clock.runFor(12_000)
    await server().admin.enqueue({ id: 'another-one', type: 'clock-smith', deduplicate: 'off' })
    await page.clock.runFor(12_000)
    await tab.settled()
    await page.getByText('1 selected:').waitFor()
    // Without a selection, and when nobody reads, the ages are those of now.
    await page.getByRole('button', { name: 'Select none' }).click()
    await page.mouse.move(0, 0)
    await page.locator('.title h1').click()
    tab.watched.forget()
    await page.clock.runFor(12_000)
    await server().admin.enqueue({ id: 'yet-another-one', type: 'clock-smith', deduplicate: 'off' })
    await page.clock.runFor(12_000)
    await tab.settled()
    expect(tab.watched.requests.filter((request) => request.includes('createdBefore='))).not.toEqual([])
    expectQuiet(tab.watched)
  })
})
