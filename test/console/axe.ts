/** Accessibility, as axe-core sees it. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { AxeResults, Result } from 'axe-core'
import type { Page } from 'playwright-core'

const source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** Through the debugger: the page's own policy lets no script in that the server did not send. */
const evaluate = async <A>(page: Page, expression: string): Promise<A> => {
  const session = await page.context().newCDPSession(page)
  try {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails !== undefined) throw new Error(`axe: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`)
    return result.value as A
  } finally {
    await session.detach()
  }
}

const lineOf = ({ id, help, nodes }: Result): string => `${id}: ${help}\n${nodes.map(({ html, failureSummary }) => `    ${html}\n      ${(failureSummary ?? '').replaceAll('\n', '\n      ')}`).join('\n')}`

/** What axe finds on the page as it is now, by all of its rules but the experimental ones. Each finding names its elements. */
export const axeFindings = async (page: Page): Promise<ReadonlyArray<string>> => {
  await evaluate(page, `${source}; undefined`)
  const { violations } = await evaluate<Pick<AxeResults, 'violations'>>(page, `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => ({ violations }))`)
  return violations.map(lineOf)
}

/** Fails with each finding. */
export const expectAccessible = async (page: Page): Promise<void> => {
  const found = await axeFindings(page)
  if (found.length > 0) throw new Error(`axe finds on ${page.url()}:\n${found.join('\n')}`)
}
