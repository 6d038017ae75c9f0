/** What holds for every page of the console. */
import { beforeAll, describe, expect, test } from 'vitest'
import { axeFindings } from './axe.js'
import { useBrowser, withoutBrowser } from './browser.js'
import { openTab, type Tab } from './open-page.js'
import { pageRows } from './pages.js'
import { isExport, pressAll } from './press-all.js'
import { screenshot } from './screenshot.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

const phone = { width: 360, height: 740 }
const desk = { width: 1280, height: 800 }

describe.skipIf(withoutBrowser)('every page', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let operator: Tab
  let auditor: Tab
  beforeAll(async () => {
    const { url, tokens } = server()
    operator = await openTab(browser, url, tokens.ada)
    auditor = await openTab(browser, url, tokens.ben)
  })

  test('stands in the table of these tests, if it stands in the navigation', async () => {
    await operator.visit('/q/default/log')
    const linked = await operator.page.locator('nav a').evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).pathname))
    expect(linked.length).toBeGreaterThan(5)
    expect(linked.filter((path) => !pageRows.some((row) => row.path === path))).toEqual([])
  })

  test.each(pageRows)('$name: no error, no request to elsewhere, a silent policy, axe finds nothing, dark and light, and nothing is beyond the edge of a phone', async ({ name, path, heading, shows }) => {
    const { page, watched, settled } = operator
    await page.setViewportSize(desk)
    await page.emulateMedia({ colorScheme: 'dark' })
    // One visit, because each takes a second or two.
    await operator.visit(path, shows)
    expect(await page.locator('h1').first().textContent()).toBe(heading)
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme })
      await settled()
      await screenshot(page, `${name}-${colorScheme}`)
      expect(await axeFindings(page), colorScheme).toEqual([])
    }
    await page.setViewportSize(phone)
    await settled()
    await screenshot(page, `${name}-phone`)
    expect(await widest(operator)).toBeLessThanOrEqual(phone.width)
    expectQuiet(watched)
  })

  test('teeth: what is too wide for a phone is found', async () => {
    await operator.page.setViewportSize(phone)
    await operator.page.locator('main').evaluate((main) => {
      const wide = document.createElement('div')
      wide.style.width = '500px'
      wide.style.height = '1px'
      main.append(wide)
    })
    expect(await widest(operator)).toBeGreaterThan(phone.width)
  })

  test.each(pageRows)('$name: an auditor reads all of it, and whatever is pressed, nothing is offered or done', async ({ path, shows }) => {
    await auditor.visit(path, shows)
    expect((await pressAll(auditor)).filter((title) => !isExport(title))).toEqual([])
    expect(auditor.watched.requests.filter((request) => !/^(?:GET|WS) /.test(request))).toEqual([])
    expectQuiet(auditor.watched)
  })

  test('teeth: an operator is offered actions, which this way of pressing finds', async () => {
    await operator.visit('/q/default/agents', 'mailer-1')
    expect((await pressAll(operator)).join()).toContain('Terminate')
  })
})

/** How far the page reaches to the right, in pixels. */
const widest = ({ page }: Tab): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)
