/** What a page does while it is looked at: nothing that is read moves, is cut off, or loses the focus. */
import { createClient } from '@daybook/adapters/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { handsOf } from './hands.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

describe.skipIf(withoutBrowser)('what is looked at', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ada)
  })
  const focused = (): Promise<string> => tab.page.evaluate(() => document.activeElement?.id ?? '')

  test('the newest events of the log stay where they are when another comes: what is open stays open', async () => {
    const { page, visit } = tab
    await visit('/q/default/log', 'newest-1')
    const last = page.locator('tbody tr').last().locator('details')
    await last.evaluate((details: HTMLDetailsElement) => (details.open = true))
    const shown = await page.locator('table').elementHandle()
    await server().admin.settings.patch({ capacity: { maxConcurrentAgents: 14 } })
    await page.getByText('QueueConfigured').last().waitFor()
    await tab.settled()
    expect(await shown?.evaluate((table) => table.isConnected)).toBe(true)
    expect(await page.locator('tbody details[open]').count()).toBe(1)
    expectQuiet(tab.watched)
  })

  test('the focus goes to the page when what had it is gone: a notice that is dismissed, a page that is left', async () => {
    const { page, visit } = tab
    await visit('/q/default/breakers', 'ops-security')
    await page.getByRole('button', { name: 'Open for another type …' }).click()
    await handsOf(tab).confirm(/Open it/, /is open/, { reason: 'it is about the focus', fields: { type: 'focus' } })
    await page.getByRole('button', { name: 'dismiss' }).focus()
    await page.keyboard.press('Enter')
    await tab.settled()
    expect(await focused()).toBe('main')
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    await page.getByRole('link', { name: /^backlog-/ }).first().focus()
    await page.goBack()
    await page.getByText('ops-security').first().waitFor()
    await tab.settled()
    expect(await focused()).toBe('main')
    expectQuiet(tab.watched)
  })

  test('a lost connection is announced once, and not with each second', async () => {
    const other = await openTab(browser, server().url, server().tokens.ben)
    const { page } = other
    await other.visit('/q/default/agents', 'mailer-1')
    await page.route('**/api/**', (route) => route.abort('connectionrefused'))
    const banner = page.locator('.banner.lost')
    await banner.waitFor()
    const announced = (): Promise<ReadonlyArray<string | null>> => page.locator('.banner.lost[role="status"], .banner.lost [role="status"]').allTextContents()
    const [before, whole] = [await announced(), await banner.textContent()]
    expect(before).toHaveLength(1)
    await expect.poll(() => banner.textContent(), { timeout: 30_000 }).not.toBe(whole)
    expect(await announced()).toEqual(before)
    await page.context().close()
  })

  test('a name stays whole beside a long reason', async () => {
    const { token } = await server().admin.tokens.create({ name: 'reviewers', roles: ['operator'] })
    const client = createClient({ url: server().url, token })
    await client.in('words').settings.patch({ decisionReport: 'optional' })
    await client.in('words').pause(`for a long reason: ${'one-word-after-another-'.repeat(9)}`)
    await client.close()
    const { page, visit } = tab
    await page.setViewportSize({ width: 1_280, height: 800 })
    await visit('/q/words/audit', 'for a long reason')
    expect(await page.locator('td').getByText('reviewers', { exact: true }).last().evaluate((link) => link.getClientRects().length)).toBe(1)
    expectQuiet(tab.watched)
  })

  test('no title of a column in the list of tasks is cut off, and what is cut off in a row stands in a title', async () => {
    const { page, visit } = tab
    await page.setViewportSize({ width: 1_280, height: 800 })
    await server().admin.in('long').enqueue({ id: 'long-1', type: 'a-type-with-a-name-that-does-not-fit-into-its-column', tenant: 'a-tenant-with-such-a-name', description: 'many words '.repeat(20) })
    await visit('/q/long/tasks?columns=id,type,tenant,description', 'long-1')
    const cut = (cells: string): Promise<ReadonlyArray<string>> =>
      page.locator(cells).evaluateAll((all) => all.filter((cell) => cell.scrollWidth > cell.clientWidth && (cell.querySelector('[title]') ?? cell.closest('[title]')) === null).map(({ textContent }) => textContent ?? ''))
    expect(await page.locator('td').evaluateAll((all) => all.filter((cell) => cell.scrollWidth > cell.clientWidth).length)).toBeGreaterThan(1)
    expect(await cut('.task-list td')).toEqual([])
    await visit('/q/default/tasks', 'eng-backend')
    expect(await cut('.task-list th')).toEqual([])
    expectQuiet(tab.watched)
  })

  test('what is being typed into a period stays when the quarter of an hour ends', async () => {
    const other = await openTab(browser, server().url, server().tokens.ben)
    const { page, watched } = other
    // The console goes by the time of the server.
    let aheadMs = 0
    await page.route('**/api/queues/**', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, headers: { ...response.headers(), date: new Date(Date.now() + aheadMs).toUTCString() } })
    })
    await other.visit('/q/default/audit', 'the database is being upgraded')
    const from = page.locator('input[name="from"]')
    await from.fill('2026-01-02T03:04:05')
    watched.forget()
    aheadMs = 16 * 60_000
    // The period is another one then.
    await expect.poll(() => watched.requests.some((request) => request.includes('limit=1000')), { timeout: 30_000 }).toBe(true)
    await other.settled()
    expect(await from.inputValue()).toBe('2026-01-02T03:04:05')
    expect(await from.evaluate((field) => field === document.activeElement)).toBe(true)
    // An answer may be under way.
    await page.unrouteAll({ behavior: 'wait' })
    await page.context().close()
  })

  test('the hints in empty fields are as easy to read as other quiet words', async () => {
    const { page, visit } = tab
    await page.emulateMedia({ colorScheme: 'dark' })
    await visit('/q/default/tasks', 'eng-backend')
    const quiet = await page.locator('p.quiet').first().evaluate((words) => getComputedStyle(words).color)
    expect(await page.locator('[data-search]').evaluate((field) => getComputedStyle(field, '::placeholder').color)).toBe(quiet)
    await page.emulateMedia({ colorScheme: 'light' })
  })

  test('placeholders wait for a moment before they appear, also for who wants less motion', async () => {
    const { page } = tab
    let letGo = (): void => undefined
    const until = new Promise<void>((resolve) => (letGo = resolve))
    await page.route('**/api/queues/default/agents', async (route) => {
      await until
      await route.continue()
    })
    await page.goto(`${server().url}/q/default/agents`)
    await page.getByRole('heading', { name: 'Agents' }).waitFor()
    const { name, delay, duration } = await page.locator('main .skeleton').first().evaluate((placeholder) => {
      const { animationName, animationDelay, animationDuration } = getComputedStyle(placeholder)
      return { name: animationName, delay: Number.parseFloat(animationDelay), duration: Number.parseFloat(animationDuration) }
    })
    letGo()
    await page.getByText('mailer-1').first().waitFor()
    await page.unroute('**/api/queues/default/agents')
    expect(name).toBe('appear')
    expect(delay).toBeGreaterThanOrEqual(0.3)
    expect(duration).toBeLessThan(0.01)
    expectQuiet(tab.watched)
  })

  test('a server that says nothing at all about the token is told of', async () => {
    const other = await openTab(browser, server().url, server().tokens.ben)
    const { page } = other
    await page.route('**/api/me', () => undefined)
    await page.goto(`${server().url}/q/default/agents`)
    await page.getByText('The server does not answer').waitFor()
    await page.context().close()
  })

  test('one is not said as many', async () => {
    const { page, visit } = tab
    await server().admin.in('few').enqueueAll(['first', 'second'].map((id) => ({ id, type: 'mow', deduplicate: 'off' as const })))
    await visit('/q/few/tasks/second', 'An agent that asks now gets it')
    await page.getByText('gets it after 1 other.').waitFor({ timeout: 3_000 })
    expectQuiet(tab.watched)
  })
})
