/** Waiting until a page has nothing left to do: by what it shows and asks for, never by time. */
import type { Page } from 'playwright-core'
import { patienceMs } from '../support/in-time.js'
import type { Watched } from './watch-page.js'

/**
 * Resolves when the page is loaded, no request is under way, nothing on it is marked as busy (`aria-busy`), and this is still so after it was
 * painted twice: an answer may lead to the next request.
 */
export const settle = async (page: Page, watched: Watched): Promise<void> => {
  await page.waitForLoadState('load', { timeout: patienceMs })
  let calm = 0
  for (const end = Date.now() + patienceMs; calm < 2; ) {
    const busy = await page.evaluate(
      () => new Promise<number>((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve(document.querySelectorAll('[aria-busy="true"]').length)))),
    )
    calm = busy === 0 && watched.underWay() === 0 ? calm + 1 : 0
    if (Date.now() > end) throw new Error(`the page ${page.url()} does not settle: ${busy} parts are busy, ${watched.underWay()} requests are under way`)
  }
}
