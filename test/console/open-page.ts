/** Opens pages of the console as somebody with a token does, and waits until they are shown. */
import type { BrowserContextOptions, Page } from 'playwright-core'
import { patienceMs } from '../support/in-time.js'
import type { OpenBrowser } from './browser.js'
import { settle } from './settle.js'
import { type Watched, watchPage } from './watch-page.js'

export interface Tab {
  readonly page: Page
  readonly watched: Watched
  /** Opens an address of the console, and waits until the page has settled and shows this text. Findings of the page before are forgotten. */
  readonly visit: (path: string, shows?: string) => Promise<void>
  readonly settled: () => Promise<void>
}

/** A tab with storage of its own, which the token opens. `url`: of the server. */
export const openTab = async (browser: OpenBrowser, url: string, token: string, options: BrowserContextOptions = {}): Promise<Tab> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(patienceMs)
  const watched = await watchPage(page, url)
  // The token is in the fragment, as in a link that somebody was sent.
  await page.goto(`${url}/#token=${token}`)
  await settle(page, watched)
  const settled = (): Promise<void> => settle(page, watched)
  return {
    page,
    watched,
    settled,
    visit: async (path, shows) => {
      watched.forget()
      await page.goto(url + path)
      await settled()
      if (shows !== undefined) await page.getByText(shows).first().waitFor({ state: 'attached' })
      await settled()
    },
  }
}
