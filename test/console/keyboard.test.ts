/** Everything without a pointer: an operator finds a dead letter, opens it, and sends it back. */
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { handsOf } from './hands.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

interface Focused {
  /** What it is called, or what it says. */
  readonly name: string
  /** The width of the outline around it, in pixels, as long as it is one. */
  readonly outline: number
}

describe.skipIf(withoutBrowser)('by keyboard alone', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ada)
  })

  /** What has the focus; `undefined` if nothing has it. The frame of the page counts as nothing that one can press. */
  const focused = (): Promise<Focused | undefined> =>
    tab.page.evaluate(() => {
      const at = document.activeElement
      if (at === null || at === document.body || at.matches('main')) return undefined
      const { outlineStyle, outlineWidth } = getComputedStyle(at)
      return { name: at.getAttribute('name') ?? at.getAttribute('aria-label') ?? at.textContent ?? '', outline: outlineStyle === 'none' ? 0 : Number.parseFloat(outlineWidth) }
    })
  /** Presses Tab until this has the focus. At each stop one sees where it is. */
  const tabTo = async (what: RegExp): Promise<void> => {
    const passed: Array<string> = []
    for (let i = 0; i < 80; i++) {
      await tab.page.keyboard.press('Tab')
      const at = await focused()
      if (at === undefined) continue
      expect(at.outline, `the outline around ${at.name}`).toBeGreaterThanOrEqual(2)
      if (what.test(at.name)) return
      passed.push(at.name.slice(0, 40))
    }
    throw new Error(`no Tab leads to ${String(what)}: ${passed.join(' | ')}`)
  }

  test('from the login to a dead letter that is back in the queue', async () => {
    const { page, watched } = tab
    const { keyboard } = page
    const { admin } = server()
    await page.evaluate(() => sessionStorage.clear())
    await page.goto(`${server().url}/q/default/log`)
    await page.getByLabel('Token').waitFor()
    // The field has the focus already.
    expect((await focused())?.name).toBe('token')
    await keyboard.type(server().tokens.ada)
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Log' }).waitFor()
    await keyboard.press('g')
    await keyboard.press('d')
    await page.getByRole('link', { name: /upstream timed out/ }).waitFor()
    await tabTo(/upstream timed out/)
    await keyboard.press('Enter')
    await page.getByRole('link', { name: /^data-import-/ }).first().waitFor()
    await tabTo(/^data-import-\d+$/)
    const id = (await focused())?.name ?? ''
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: id }).waitFor()
    await tab.settled()
    await tabTo(/^Retry …$/)
    await keyboard.press('Enter')
    await page.locator('dialog[open]').waitFor()
    expect((await focused())?.name).toBe('reason')
    await keyboard.type('upstream is back')
    await keyboard.press('Enter')
    expect(await handsOf(tab).became('Requeued', admin)).toMatchObject({ actor: 'ada', data: { task: id, reason: 'upstream is back' } })
    expect((await admin.task(id)).status).not.toBe('dead-letter')
    expectQuiet(watched, [/status of 401/])
  })

  test.each([
    ['Escape', ['Escape']],
    ['the button that leaves it', ['Tab', 'Enter']],
  ])('a dialog that is closed with %s gives the focus back to where it was', async (_, keys) => {
    const { page } = tab
    await tab.visit('/q/default/tasks/announce-1', 'release-1')
    await tabTo(/^Cancel …$/)
    await page.keyboard.press('Enter')
    await page.locator('dialog[open]').waitFor()
    expect((await focused())?.name).toBe('reason')
    for (const key of keys) await page.keyboard.press(key)
    await page.locator('dialog').waitFor({ state: 'detached' })
    expect(await focused()).toMatchObject({ name: 'Cancel …' })
    expect((await server().admin.task('announce-1')).status).toBe('blocked')
  })

  test('Tab stays in a dialog: nothing behind it can be reached', async () => {
    const { page } = tab
    await tab.visit('/q/default/tasks/announce-1', 'release-1')
    await tabTo(/^Amend …$/)
    await page.keyboard.press('Enter')
    await page.locator('dialog[open]').waitFor()
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press('Tab')
      expect(await page.evaluate(() => document.activeElement === document.body || document.querySelector('dialog')?.contains(document.activeElement))).toBe(true)
    }
    await page.keyboard.press('Escape')
  })

  test('the search, the list with j, k and x, and the way back', async () => {
    const { page } = tab
    const { keyboard } = page
    await tab.visit('/q/default/tasks', 'eng-backend')
    await keyboard.press('/')
    await keyboard.type('type:ops-security status:dead-letter')
    await keyboard.press('Escape')
    await keyboard.press('Escape')
    await page.waitForURL(/status:dead-letter/)
    const rows = page.locator('tbody tr [data-row-link]')
    const shown = async (): Promise<ReadonlyArray<string>> => rows.allTextContents()
    // Rows of the search as it was typed may come and go before.
    await expect.poll(async () => (await shown()).length > 1 && (await shown()).every((id) => id.startsWith('ops-security')), { timeout: 30_000 }).toBe(true)
    await tab.settled()
    const ids = await shown()
    expect(ids.length).toBeGreaterThan(1)
    for (const [key, row] of [['j', 0], ['j', 1], ['k', 0]] as const) {
      await keyboard.press(key)
      await expect.poll(async () => (await focused())?.name, { timeout: 30_000 }).toBe(ids[row])
    }
    await keyboard.press('x')
    await page.getByText('1 selected:').waitFor()
    await keyboard.press('Enter')
    await page.getByRole('heading', { name: ids[0] as string, exact: true }).waitFor()
    await keyboard.press('g')
    await keyboard.press('n')
    await page.getByRole('heading', { name: 'Now', exact: true }).waitFor()
  })

  test('keys work after a row was selected with the mouse, and on the time slider: nobody types there', async () => {
    const { page } = tab
    const { keyboard } = page
    await tab.visit('/q/default/tasks', 'eng-backend')
    await page.locator('tbody input[type="checkbox"]').first().click()
    await page.getByText('1 selected:').waitFor()
    await keyboard.press('j')
    await expect.poll(async () => page.evaluate(() => document.activeElement?.hasAttribute('data-row-link')), { timeout: 30_000 }).toBe(true)
    await page.getByRole('slider', { name: 'Moment shown' }).focus()
    await keyboard.press('g')
    await keyboard.press('a')
    await page.getByRole('heading', { name: 'Agents', exact: true }).waitFor()
  })
})
