/** One Chromium for a test file, and a context of its own (storage, cookies, colours, size) for each page that a test opens. */
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium as driver } from 'playwright-core'
import { afterAll, beforeAll } from 'vitest'
import { chromium, chromiumProgram, goesWithout } from '../support/needs.js'

/** For `test.skipIf` and `describe.skipIf`. */
export const withoutBrowser = goesWithout(chromium)

/** Nothing but the page under test uses the network. There is no sandbox for root, as which CI runs. */
const flags = [
  '--no-sandbox', '--disable-gpu', '--disable-quic', '--disable-dev-shm-usage', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-default-apps', '--no-default-browser-check',
]

export interface OpenBrowser {
  readonly newContext: (options?: BrowserContextOptions) => Promise<BrowserContext>
}

/** Starts the browser before the tests of the calling file, with an empty profile, and ends it after them. */
export const useBrowser = (): OpenBrowser => {
  let browser: Browser | undefined
  beforeAll(async () => {
    if (!withoutBrowser) browser = await driver.launch({ executablePath: chromiumProgram, args: flags })
  })
  afterAll(async () => {
    // An answer that a test passes on may be under way.
    for (const page of browser?.contexts().flatMap((context) => context.pages()) ?? []) await page.unrouteAll({ behavior: 'ignoreErrors' })
    await browser?.close()
  })
  return {
    newContext: (options = {}) => {
      if (browser === undefined) throw new Error('the browser has not been started: a page is opened in a test, not before')
      return browser.newContext({ locale: 'en-GB', timezoneId: 'Europe/Berlin', reducedMotion: 'reduce', ...options })
    },
  }
}
