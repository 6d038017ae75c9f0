/** When the console may write: never before somebody has confirmed it, and never about the past. The log is the judge. */
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { openTab, type Tab } from './open-page.js'
import { type PageRow, pageRows } from './pages.js'
import { isExport, pressAll } from './press-all.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

const deadLetter: PageRow = { name: 'dead-letter', path: '/q/default/tasks/mail-welcome-84', heading: 'mail-welcome-84', shows: '550 mailbox unavailable' }
const rows = [...pageRows, deadLetter]

describe.skipIf(withoutBrowser)('the console writes', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ada)
  })
  const opened: Array<string> = []

  test.each(rows)('$name: nothing before it is confirmed, whatever an operator presses', async ({ path, shows }) => {
    const { admin } = server()
    const { revision } = await admin.summary()
    await tab.visit(path, shows)
    opened.push(...(await pressAll(tab)))
    await tab.settled()
    expect((await admin.events({ from: revision + 1, actor: 'ada' })).events).toEqual([])
    // To count is to ask: by a dry run.
    expect(tab.watched.requests.filter((request) => !/^(?:GET|WS) /.test(request) && !/\/(?:dead-letters\/retry|tasks\/cancel)$/.test(request))).toEqual([])
    expectQuiet(tab.watched)
  })

  test('teeth: this way of pressing opens the dialogs of all actions', () => {
    const wanted = [
      /^Pause the queue default$/, /^Resume the queue nightly$/, /^Cancel \d+ tasks$/, /^Bump \d+ tasks/, /^Change the priority of \d+ tasks/, /^Amend announce-1$/, /^Cancel announce-1$/,
      /^Retry mail-welcome-84$/, /^Edit and retry mail-welcome-84$/, /^Discard mail-welcome-84$/, /^Restart mail-welcome-84$/, /^Retry this group$/, /^Snooze this group$/, /^Escalate this group/, /^Discard this group$/,
      /^Close the breaker of ops-security$/, /^Open the breaker of /, /^Terminate mailer-1$/, /^Weight of globex$/, /^Pause triage$/, /^Resume month-end$/, /^Approve this proposal$/, /^Refuse this proposal$/,
    ]
    expect(wanted.filter((title) => !opened.some((each) => title.test(each)))).toEqual([])
  })

  // The page of changes is about two moments of its own.
  test.each(rows.filter(({ name }) => name !== 'changes'))('$name: nothing about the past, and offers nothing there', async ({ path }) => {
    const at = new Date(Date.now() - 60_000).toISOString()
    await tab.visit(`${path}${path.includes('?') ? '&' : '?'}at=${at}`, 'Nothing can be changed here')
    expect((await pressAll(tab)).filter((title) => !isExport(title))).toEqual([])
    expect(tab.watched.requests.filter((request) => !/^GET /.test(request))).toEqual([])
    expectQuiet(tab.watched)
  })
})
