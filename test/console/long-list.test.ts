/** A list of many tasks: as many as a test can make in seconds. A million were tried by hand (docs/console.md). */
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

const tasks = 20_000
const perRequest = 1_000
const rowPx = 33

describe.skipIf(withoutBrowser)('a list of twenty thousand tasks', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  const queue = () => server().admin.in('many')
  beforeAll(async () => {
    if (withoutBrowser) return
    for (let from = 0; from < tasks; from += perRequest) await queue().enqueueAll(Array.from({ length: perRequest }, (_, i) => ({ id: `many-${from + i}`, type: 'many', payload: from + i })))
    tab = await openTab(browser, server().url, server().tokens.ada)
    await tab.visit('/q/many/tasks', 'many-0')
  })

  const frame = () => tab.page.locator('.task-list')
  /** What stands in the row of this index, from 0, once it is known. */
  const rowAt = (index: number) => frame().locator(`tr[aria-rowindex="${index + 2}"]`)
  const scrollTo = (top: number): Promise<void> => frame().evaluate((at, to) => at.scrollTo(0, to), top)

  test('says how many there are, draws those in view, and is sorted as its heads say', async () => {
    await tab.page.getByText('20,000 tasks', { exact: true }).waitFor()
    expect(await frame().locator('tbody tr').count()).toBeLessThan(80)
    expect(await frame().locator('th.of-status').getAttribute('aria-sort')).toBe('ascending')
    expect(await frame().locator('th[aria-sort]').count()).toBe(1)
    await tab.page.getByText('By status, then the highest priority, then the oldest.').waitFor()
  })

  test('scrolls to any place and to its end, and shows there what belongs there', async () => {
    for (const index of [7_777, 15_001, 400]) {
      await scrollTo(index * rowPx)
      await rowAt(index + 3).getByRole('link', { name: `many-${index + 3}`, exact: true }).waitFor()
    }
    await frame().focus()
    await tab.page.keyboard.press('End')
    await rowAt(tasks - 1).getByRole('link', { name: `many-${tasks - 1}`, exact: true }).waitFor()
    expect(await frame().locator('tbody tr').count()).toBeLessThan(80)
    // More pages than are kept: the first one is forgotten, and the list stays.
    for (let page = 20; page < 36; page++) {
      await scrollTo(page * 200 * rowPx)
      await rowAt(page * 200 + 3).getByRole('link', { name: `many-${page * 200 + 3}`, exact: true }).waitFor()
    }
    // And back to where nobody has been before.
    await scrollTo(11_999 * rowPx)
    await rowAt(12_003).getByRole('link', { name: 'many-12003', exact: true }).waitFor()
    expectQuiet(tab.watched)
  })

  test('a way to a distant place that breaks off is gone on with, without another scroll', async () => {
    const other = await openTab(browser, server().url, server().tokens.ada)
    await other.visit('/q/many/tasks', 'many-0')
    const { page } = other
    let isCut = false
    await page.route(({ searchParams }) => searchParams.get('limit') === '1000', async (route) => {
      isCut = true
      await route.abort('connectionreset')
    }, { times: 1 })
    await page.locator('.task-list').evaluate((at, to) => at.scrollTo(0, to), 15_000 * rowPx)
    await page.locator(`.task-list tr[aria-rowindex="${15_003 + 2}"]`).getByRole('link', { name: 'many-15003', exact: true }).waitFor()
    expect(isCut).toBe(true)
    expectQuiet(other.watched, [/ERR_CONNECTION_RESET/])
  })

  test('rows that come before those that somebody reads announce themselves, and move none', async () => {
    const top = 3_000 * rowPx
    await scrollTo(top)
    await rowAt(3_010).getByRole('link', { name: 'many-3010', exact: true }).waitFor()
    // A reader at the top sees them announced as well.
    await scrollTo(1)
    await rowAt(5).getByRole('link', { name: 'many-5', exact: true }).waitFor()
    await queue().enqueueAll(['first', 'second'].map((id) => ({ id: `urgent-${id}`, type: 'many', payload: id, priority: 10 })))
    const button = tab.page.getByRole('button', { name: '2 new tasks: show' })
    await button.waitFor()
    await rowAt(5).getByRole('link', { name: 'many-5', exact: true }).waitFor()
    expect(await frame().locator('tr.gone').count()).toBe(0)
    await button.click()
    await rowAt(0).getByRole('link', { name: 'urgent-first', exact: true }).waitFor()
    await rowAt(7).getByRole('link', { name: 'many-5', exact: true }).waitFor()
    await button.waitFor({ state: 'detached' })
    // Pages far away are where they were found. Where two meet, no row is missing, and none stands twice.
    await scrollTo(3_995 * rowPx)
    const numberAt = async (index: number): Promise<number> => Number((await rowAt(index).getByRole('link').textContent())?.replace('many-', ''))
    await expect.poll(async () => (await numberAt(4_000)) - (await numberAt(3_999)), { timeout: 30_000 }).toBe(1)
    expectQuiet(tab.watched)
  })

  test('a reader who is at the top, and touches nothing, sees new rows at once', async () => {
    await tab.page.mouse.move(0, 0)
    await tab.page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
    await scrollTo(0)
    await rowAt(0).getByRole('link', { name: 'urgent-first', exact: true }).waitFor()
    await queue().enqueue({ id: 'urgent-third', type: 'many', payload: 'third', priority: 10 })
    await rowAt(2).getByRole('link', { name: 'urgent-third', exact: true }).waitFor()
  })
})
