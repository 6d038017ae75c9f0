import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { corpus, hostileQueue, hostileTask, mark, seedHostileTexts } from './hostile-texts.js'
import { openTab, type Tab } from './open-page.js'
import { inQueue, pageRows } from './pages.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

/** What a text has become that is more than text; empty if nothing. */
const becameMore = ({ page }: Tab): Promise<ReadonlyArray<string>> =>
  page.evaluate((name) => {
    // The server's picture of a report is an image on purpose: in it nothing runs.
    const elements = document.querySelectorAll('img:not([src^="data:image/svg+xml"]), iframe, object, embed, script:not([src]), [onerror], [onload], [onclick], [srcdoc]')
    const links = [...document.querySelectorAll<HTMLAnchorElement>('a[href]')].filter(({ protocol, host }) => !/^https?:$/.test(protocol) || host !== location.host)
    return [...(name in window ? ['a script ran'] : []), ...[...elements, ...links].map(({ outerHTML }) => outerHTML)]
  }, mark)

/** The elements that reach beyond the window and make it scroll; empty if nothing does. */
const tooWide = ({ page }: Tab): Promise<ReadonlyArray<string>> =>
  page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement
    if (scrollWidth <= clientWidth) return []
    return [...document.querySelectorAll('main *')].filter((element) => element.getBoundingClientRect().right > clientWidth).map(({ outerHTML }) => outerHTML.slice(0, 120))
  })

describe.skipIf(withoutBrowser)('what producers send is shown as text, whatever it is', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    await seedHostileTexts(server())
    tab = await openTab(browser, server().url, server().tokens.ada, { viewport: { width: 360, height: 740 } })
  })

  test.each(pageRows.filter(({ name }) => name !== 'dead-letter-group'))('$name', async ({ path }) => {
    // The page of a task is of one that this queue has.
    await tab.visit(inQueue(path.replace(/\/tasks\/[^/?]+/, `/tasks/${encodeURIComponent(hostileTask)}`), hostileQueue))
    await tab.page.evaluate(() => document.querySelectorAll('main details').forEach((details) => details.setAttribute('open', '')))
    expect(await becameMore(tab)).toEqual([])
    expectQuiet(tab.watched)
    // Nor do long texts make the page wider than a phone.
    expect(await tooWide(tab)).toEqual([])
  })

  test.each(['dead-letters', 'agents', 'breakers', 'schedules', 'approvals'])('%s shows each text as it was sent', async (page) => {
    await tab.visit(`/q/${hostileQueue}/${page}`)
    for (const text of corpus) await tab.page.getByText(text, { exact: false }).first().waitFor({ state: 'attached' })
  })

  test('a group of dead letters, and the dialog that sends it back', async () => {
    await tab.visit(`/q/${hostileQueue}/dead-letters`)
    await tab.page.locator('main h2 a').first().click()
    await tab.page.getByRole('button', { name: 'Retry …' }).click()
    await tab.page.locator('dialog[open]').waitFor()
    expect(await becameMore(tab)).toEqual([])
    expectQuiet(tab.watched)
  })

  test('teeth: markup, and a link that is a script, are found', async () => {
    await tab.visit(`/q/${hostileQueue}/log`)
    await tab.page.locator('main').evaluate((main) => {
      const link = document.createElement('a')
      link.href = 'javascript:void 0'
      main.append(document.createElement('iframe'), link)
    })
    expect(await becameMore(tab)).toHaveLength(2)
  })
})
