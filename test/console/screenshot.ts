/** Pictures of pages, for people to look at. They are not compared, and not in the repository. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

/** Writes NAME.png into the folder that DAYBOOK_SCREENSHOTS names; without it, does nothing. */
export const screenshot = async (page: Page, name: string): Promise<void> => {
  const folder = process.env['DAYBOOK_SCREENSHOTS']
  if (folder === undefined || folder === '') return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
