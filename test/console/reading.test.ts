/** What engineers and auditors ask, and find within two clicks of the first page. */
import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { adminToken } from './fleet.js'
import { handsOf } from './hands.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

describe.skipIf(withoutBrowser)('somebody who looks, with a token that only reads,', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ben)
  })
  const card = () => tab.page.getByRole('article', { name: 'queue default' })

  test('sees on the first page what needs somebody: that queue on top, its alerts, and how many breakers are open', async () => {
    await tab.visit('/', 'only at night')
    expect(await tab.page.getByRole('article').first().getAttribute('aria-label')).toBe('queue default')
    await card().getByText('breaker open').first().waitFor()
    const open = Object.values(await server().admin.breakers.list()).filter(({ state }) => state !== 'closed').length
    const link = card().locator('dl').getByRole('link', { name: String(open), exact: true })
    await link.click()
    await tab.page.getByRole('heading', { name: 'Breakers' }).waitFor()
    await tab.page.getByText('too many failures in a row').waitFor()
    expectQuiet(tab.watched)
  })

  test('finds out why a task does not run, in two clicks', async () => {
    await tab.visit('/', 'only at night')
    await card().getByRole('link', { name: 'default', exact: true }).click()
    // The search takes what one knows, and no click.
    await tab.page.getByText('By status').waitFor()
    await tab.page.keyboard.press('/')
    await tab.page.keyboard.insertText('exotic')
    // The list is drawn anew when it is found. A click before that could meet a row that is just taken away.
    await tab.page.getByText('1 task', { exact: true }).waitFor()
    await tab.page.getByRole('link', { name: 'exotic-1' }).click()
    await tab.page.getByRole('heading', { name: 'Why?' }).waitFor()
    await tab.page.locator('.reasons').getByText(/cobol/).first().waitFor()
    expectQuiet(tab.watched)
  })

  test('sees for a blocked task what it waits for, and goes there', async () => {
    await tab.visit('/q/default/tasks/announce-1', 'release-1')
    await tab.page.locator('.reasons').getByRole('link', { name: /release-1/ }).click()
    await tab.page.getByRole('heading', { name: 'release-1' }).waitFor()
    // It is the one that waits for this one.
    await tab.page.getByRole('list', { name: 'waits for it' }).getByRole('link', { name: 'announce-1' }).waitFor()
    expectQuiet(tab.watched)
  })

  test('sees a queue as it was three hours ago: the same figures as the API says of then, and how to get back', async () => {
    const at = new Date(Date.now() - 3 * 3_600_000).toISOString()
    const then = (await (await fetch(`${server().url}/api/queues/default?at=${at}`, { headers: { authorization: `Bearer ${adminToken}` } })).json()) as { readonly total: number }
    await tab.visit(`/q/default/tasks?at=${at}`, 'Nothing can be changed here')
    await tab.page.getByText(`${then.total} tasks`, { exact: true }).waitFor()
    const { total } = await server().admin.summary()
    expect(then.total).toBeLessThan(total)
    // Links keep the moment; a reload shows the same.
    await tab.page.locator('nav').getByRole('link', { name: 'Agents' }).click()
    await tab.page.reload()
    await tab.page.getByText('Nothing can be changed here').waitFor()
    expect(new URL(tab.page.url()).searchParams.get('at')).toBe(at)
    await tab.page.getByRole('link', { name: 'Back to now' }).click()
    await tab.page.getByText('Nothing can be changed here').waitFor({ state: 'detached' })
    expectQuiet(tab.watched)
  })

  test('finds the event, the one who caused it, and why', async () => {
    const [paused] = (await server().admin.events({ type: 'QueuePaused' })).events
    await tab.visit(`/q/default/log?from=${paused?.revision ?? 0}`, 'QueuePaused')
    const row = tab.page.locator('main tr').filter({ hasText: 'QueuePaused' }).first()
    expect(await row.textContent()).toContain('ada')
    await row.locator('summary').click()
    await row.getByText('the database is being upgraded').waitFor()
    expectQuiet(tab.watched)
  })

  test('takes what matches along as a file', async () => {
    await tab.visit('/q/mail/tasks?q=digest-3', 'digest-3')
    const hands = handsOf(tab)
    await hands.press(/^Export …$/)
    await hands.dialog.getByText('11 tasks, all that match,').waitFor()
    const [file] = await Promise.all([tab.page.waitForEvent('download'), hands.dialog.getByRole('button', { name: 'Export' }).click()])
    const lines = readFileSync(await file.path(), 'utf8').trimEnd().split('\r\n')
    expect(lines[0]).toMatch(/^id,number,type,/)
    expect(lines.slice(1).map((line) => line.split(',')[0]).sort()).toEqual(Array.from({ length: 40 }, (_, n) => `digest-${n}`).filter((id) => id.includes('digest-3')).sort())
    expectQuiet(tab.watched)
  })
})
