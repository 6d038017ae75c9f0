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

describe.skipIf(withoutBrowser)('every page', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let light: Tab
  let dark: Tab
  let narrow: Tab
  let auditor: Tab
  beforeAll(async () => {
    const { url, tokens } = server()
    light = await openTab(browser, url, tokens.ada, { colorScheme: 'light' })
    dark = await openTab(browser, url, tokens.ada, { colorScheme: 'dark' })
    narrow = await openTab(browser, url, tokens.ada, { viewport: phone })
    auditor = await openTab(browser, url, tokens.ben)
  })

  test('stands in the table of these tests, if it stands in the navigation', async () => {
    await light.visit('/q/default/log')
    const linked = await light.page.locator('nav a').evaluateAll((links) => links.map((link) => new URL((link as HTMLAnchorElement).href).pathname))
    expect(linked.length).toBeGreaterThan(5)
    expect(linked.filter((path) => !pageRows.some((row) => row.path === path))).toEqual([])
  })

  test.each(pageRows)('$name: no error, no request to elsewhere, a silent policy, and axe finds nothing: light', async ({ name, path, heading, shows }) => {
    await light.visit(path, shows)
    expect(await light.page.locator('h1').first().textContent()).toBe(heading)
    await screenshot(light.page, `${name}-light`)
    expectQuiet(light.watched)
    expect(await axeFindings(light.page)).toEqual([])
  })

  test.each(pageRows)('$name: the same, dark', async ({ name, path, shows }) => {
    await dark.visit(path, shows)
    await screenshot(dark.page, `${name}-dark`)
    expectQuiet(dark.watched)
    expect(await axeFindings(dark.page)).toEqual([])
  })

  test.each(pageRows)('$name: nothing is beyond the edge of a phone', async ({ name, path, shows }) => {
    await narrow.visit(path, shows)
    await screenshot(narrow.page, `${name}-phone`)
    expectQuiet(narrow.watched)
    expect(await widest(narrow)).toBeLessThanOrEqual(phone.width)
  })

  test('teeth: what is too wide for a phone is found', async () => {
    await narrow.page.locator('main').evaluate((main) => {
      const wide = document.createElement('div')
      wide.style.width = '500px'
      wide.style.height = '1px'
      main.append(wide)
    })
    expect(await widest(narrow)).toBeGreaterThan(phone.width)
  })

  test.each(pageRows)('$name: an auditor reads all of it, and whatever is pressed, nothing is offered or done', async ({ path, shows }) => {
    await auditor.visit(path, shows)
    expect((await pressAll(auditor)).filter((title) => !isExport(title))).toEqual([])
    expect(auditor.watched.requests.filter((request) => !/^(?:GET|WS) /.test(request))).toEqual([])
    expectQuiet(auditor.watched)
  })

  test('teeth: an operator is offered actions, which this way of pressing finds', async () => {
    await light.visit('/q/default/agents', 'mailer-1')
    expect((await pressAll(light)).join()).toContain('Terminate')
  })
})

/** How far the page reaches to the right, in pixels. */
const widest = ({ page }: Tab): Promise<number> => page.evaluate(() => document.documentElement.scrollWidth)
