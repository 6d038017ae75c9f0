/** Answers that are lost, late or refused: what a page says of a command is so, and nothing goes on behind its back. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { handsOf } from './hands.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

/** What a browser says of requests that a test cut off. */
const cutOff = /ERR_CONNECTION_RESET|ERR_FAILED/

describe.skipIf(withoutBrowser)('answers that are lost or late', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ada)
  })
  /** A request that is held until it is let go. */
  const held = () => {
    let letGo = (): void => undefined
    const until = new Promise<void>((resolve) => (letGo = resolve))
    let begin = (): void => undefined
    const begun = new Promise<void>((resolve) => (begin = resolve))
    return { begin: () => begin(), begun, until, letGo: () => letGo() }
  }
  /** Asks to discard the dead letters of a pattern. The dry run that counts them is held, and a later request is not. */
  const discardWithHeldDryRun = async () => {
    const { page } = tab
    await tab.visit('/q/default/dead-letters', '550 mailbox unavailable')
    await page.getByRole('link', { name: /550 mailbox unavailable/ }).first().click()
    const dryRun = held()
    await page.route('**/dead-letters/retry', async (route) => {
      dryRun.begin()
      await dryRun.until
      await route.continue()
    }, { times: 1 })
    await handsOf(tab).press(/^Discard …$/)
    await dryRun.begun
    return dryRun
  }
  const isShut = async (): Promise<void> => {
    await tab.settled()
    expect(await handsOf(tab).dialog.count()).toBe(0)
  }

  test('a command that is done is told as done, also if its event cannot be read then', async () => {
    const { page } = tab
    const { confirm, dialog } = handsOf(tab)
    await tab.visit('/q/default/breakers', 'ops-security')
    await page.getByRole('button', { name: 'Open for another type …' }).click()
    const isLook = ({ pathname, searchParams }: URL): boolean => pathname.endsWith('/events') && searchParams.get('limit') === '51'
    await page.route(isLook, (route) => route.abort('connectionreset'))
    await confirm(/Open it/, /The breaker of told-once is open/, { reason: 'it is about the answer', fields: { type: 'told-once' } })
    await dialog.waitFor({ state: 'detached' })
    await page.unroute(isLook)
    expect((await server().admin.events({ type: 'BreakerOpened', actor: 'ada' })).events.filter(({ data }) => data['taskType'] === 'told-once')).toHaveLength(1)
    expectQuiet(tab.watched, [cutOff])
  })

  test('of many tasks, a lost answer ends the work: nothing is sent behind the dialog, which can be closed', async () => {
    const { page } = tab
    const { dialog, press } = handsOf(tab)
    await server().admin.in('many').enqueueAll(Array.from({ length: 40 }, (_, n) => ({ id: `many-${n}`, type: 'mow', deduplicate: 'off' as const })))
    await tab.visit('/q/many/tasks', 'many-1')
    await press(/^Priority …$/)
    let sent = 0
    const isChange = ({ pathname }: URL): boolean => /\/tasks\/many-\d+$/.test(pathname)
    await page.route(isChange, async (route) => {
      if (route.request().method() !== 'PATCH') return route.continue()
      if (++sent === 5) return route.abort('connectionreset')
      const response = await route.fetch()
      return route.fulfill({ response })
    })
    await dialog.locator('[name="reason"]').fill('the lawn is high')
    await dialog.getByRole('button', { name: 'Change 40 tasks' }).click()
    await dialog.getByRole('alert').getByText('the server does not answer').waitFor()
    await dialog.getByRole('button', { name: 'Leave it' }).click()
    await isShut()
    await page.unroute(isChange)
    // Three were under way beside the one that was lost.
    expect(sent).toBeLessThan(10)
    expectQuiet(tab.watched, [cutOff])
  })

  test('of many tasks, those that are put off are sent again, and all are changed', async () => {
    const { page } = tab
    const { confirm, press } = handsOf(tab)
    await server().admin.in('put-off').enqueueAll(Array.from({ length: 12 }, (_, n) => ({ id: `put-off-${n}`, type: 'mow', deduplicate: 'off' as const })))
    await tab.visit('/q/put-off/tasks', 'put-off-1')
    await press(/^Priority …$/)
    let answers = 0
    const isChange = ({ pathname }: URL): boolean => /\/tasks\/put-off-\d+$/.test(pathname)
    const problems = [{ status: 429, code: 'too-many-requests' }, { status: 503, code: 'overloaded' }] as const
    await page.route(isChange, (route) => {
      const problem = route.request().method() === 'PATCH' ? problems[answers++] : undefined
      return problem === undefined ? route.continue() : route.fulfill({ status: problem.status, contentType: 'application/problem+json', headers: { 'retry-after': '1' }, body: JSON.stringify({ ...problem, detail: 'later' }) })
    })
    await confirm(/^Change 12 tasks$/, /^12 tasks changed\./, { reason: 'the lawn is high', fields: { priority: '9' } })
    await page.unroute(isChange)
    expect((await server().admin.in('put-off').tasks({ priority: 9 })).tasks).toHaveLength(12)
    expectQuiet(tab.watched, [/status of (?:429|503)/])
  })

  test('of many tasks, a server that goes on putting them off ends the work, and the dialog says how many were changed', async () => {
    const other = await openTab(browser, server().url, server().tokens.ada)
    const { page } = other
    const { dialog, press } = handsOf(other)
    await server().admin.in('stuck').enqueueAll(Array.from({ length: 12 }, (_, n) => ({ id: `stuck-${n}`, type: 'mow', deduplicate: 'off' as const })))
    await page.clock.install()
    await other.visit('/q/stuck/tasks', 'stuck-1')
    await press(/^Priority …$/)
    const asked = new Set<string>()
    await page.route(({ pathname }) => /\/tasks\/stuck-\d+$/.test(pathname), (route) => {
      if (route.request().method() !== 'PATCH' || asked.size === 0) {
        if (route.request().method() === 'PATCH') asked.add(route.request().url())
        return route.continue()
      }
      asked.add(route.request().url())
      return route.fulfill({ status: 503, contentType: 'application/problem+json', headers: { 'retry-after': '1' }, body: JSON.stringify({ status: 503, code: 'unavailable', detail: 'the disk is full' }) })
    })
    await dialog.locator('[name="reason"]').fill('the lawn is high')
    await dialog.getByRole('button', { name: 'Change 12 tasks' }).click()
    const said = dialog.getByRole('alert').getByText('the disk is full: 1 of 12 were changed before')
    for (let i = 0; i < 600 && !(await said.isVisible()); i++) await page.clock.runFor(1_000)
    expect(await said.isVisible()).toBe(true)
    // One was changed, and four were under way.
    expect(asked.size).toBeLessThanOrEqual(5)
    await page.context().close()
  })

  test('tasks that were counted for another search are not offered', async () => {
    const { page } = tab
    await tab.visit('/q/default/tasks?q=type:eng-*', 'tasks')
    const count = held()
    const isCount = ({ pathname, searchParams }: URL): boolean => pathname.endsWith('/tasks') && searchParams.get('limit') === '1000'
    await page.route(isCount, async (route) => {
      count.begin()
      await count.until
      await route.continue()
    })
    await handsOf(tab).press(/^Bump …$/)
    await count.begun
    await page.locator('[data-search]').fill('type:mail-*')
    await page.getByRole('link', { name: /^mail-/ }).first().waitFor()
    count.letGo()
    await isShut()
    await page.unroute(isCount)
    expectQuiet(tab.watched)
  })

  test('what was asked for on a page that is left is not offered on another', async () => {
    const { page } = tab
    const dryRun = await discardWithHeldDryRun()
    await page.getByRole('link', { name: 'Agents', exact: true }).click()
    await page.getByText('mailer-1').first().waitFor()
    dryRun.letGo()
    await isShut()
    await page.unroute('**/dead-letters/retry')
    expectQuiet(tab.watched)
  })

  test('what was asked for does not take the place of a dialog that was opened meanwhile', async () => {
    const { page } = tab
    const { dialog, press } = handsOf(tab)
    const dryRun = await discardWithHeldDryRun()
    await press(/^Retry …$/)
    await dialog.getByRole('heading', { name: /^Retry/ }).waitFor()
    const answered = page.waitForResponse('**/dead-letters/retry')
    dryRun.letGo()
    await (await answered).finished()
    await tab.settled()
    expect(await dialog.getByRole('heading').allTextContents()).toEqual([expect.stringMatching(/^Retry/)])
    await dialog.getByRole('button', { name: 'Leave it' }).click()
    expectQuiet(tab.watched)
  })

  const openBreaker = async (type: string, reason: string): Promise<void> => {
    const { dialog } = handsOf(tab)
    await tab.page.getByRole('button', { name: 'Open for another type …' }).click()
    await dialog.locator('[name="field-type"]').fill(type)
    await dialog.locator('[name="reason"]').fill(reason)
    await dialog.getByRole('button', { name: 'Open it' }).click()
  }

  test('the same command another time is another command, also if the answer to the first was lost', async () => {
    const { page } = tab
    const { dialog } = handsOf(tab)
    await tab.visit('/q/default/breakers', 'ops-security')
    await page.route('**/breakers/*/open', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    }, { times: 1 })
    await openBreaker('twice', 'maintenance')
    await dialog.getByRole('alert').getByText('the server does not answer').waitFor()
    // Nothing sends a command again but whoever presses.
    await dialog.getByRole('alert').getByText('It is not sent again by itself').waitFor()
    expect(await dialog.getByText('tried again automatically').count()).toBe(0)
    await dialog.getByRole('button', { name: 'Leave it' }).click()
    const stateOf = async (): Promise<string | undefined> => (await server().admin.breakers.list())['twice']?.state
    expect(await stateOf()).toBe('open')
    await server().admin.breakers.close('twice', 'maintenance is over')
    await openBreaker('twice', 'maintenance')
    await page.locator('.notice').getByText('The breaker of twice is open').waitFor()
    expect(await stateOf()).toBe('open')
    expectQuiet(tab.watched, [cutOff])
  })

  test('a command that a proxy gave up on can be sent once more, and is done once', async () => {
    const { page } = tab
    const { dialog, press } = handsOf(tab)
    const [done] = (await server().admin.tasks({ status: 'completed', limit: 1 })).tasks
    const id = done?.id ?? ''
    await tab.visit(`/q/default/tasks/${id}`, 'Life')
    await page.route('**/tasks/*/restart', async (route) => {
      await route.fetch()
      await route.fulfill({ status: 504, contentType: 'text/html', body: '<h1>Gateway Time-out</h1>' })
    }, { times: 1 })
    await press(/^Restart …$/)
    await dialog.locator('[name="reason"]').fill('once more')
    await dialog.getByRole('button', { name: 'Restart as a new task' }).click()
    await dialog.getByRole('alert').getByText('the server answered 504').waitFor()
    await dialog.getByRole('button', { name: 'Restart as a new task' }).click()
    await page.locator('.notice').getByText(`${id} is restarted`).waitFor()
    const { events } = await server().admin.events({ type: 'TaskEnqueued', actor: 'ada' })
    expect(events.filter(({ data }) => data['restartOf'] === id)).toHaveLength(1)
    expectQuiet(tab.watched, [/status of 504/])
  })

  test('a request that fails late, after others were answered, is no lost connection, and is asked again', async () => {
    const { page } = tab
    await tab.visit('/q/default/agents', 'mailer-1')
    const late = held()
    await page.route('**/api/queues/default/breakers', async (route) => {
      late.begin()
      await late.until
      await route.abort('connectionreset')
    }, { times: 1 })
    await page.evaluate(() => {
      const seen = { lost: false }
      new MutationObserver(() => (seen.lost ||= document.querySelector('.banner.lost') !== null)).observe(document.body, { childList: true, subtree: true })
      ;(window as unknown as { seen: typeof seen }).seen = seen
    })
    await server().admin.settings.patch({ capacity: { maxConcurrentAgents: 13 } })
    await late.begun
    // The server answers other requests meanwhile, every few seconds.
    await page.waitForResponse('**/api/queues/default')
    const failed = page.waitForEvent('requestfailed')
    const again = page.waitForResponse('**/api/queues/default/breakers')
    late.letGo()
    await failed
    await again
    expect(await page.evaluate(() => (window as unknown as { seen: { readonly lost: boolean } }).seen.lost)).toBe(false)
    expectQuiet(tab.watched, [cutOff])
  })

  test('who did what is asked for again by itself, as the page says, when the server could not answer', async () => {
    const { page } = tab
    let refused = 0
    const isSearch = ({ pathname, searchParams }: URL): boolean => pathname.endsWith('/events') && searchParams.get('limit') === '1000'
    await page.route(isSearch, (route) => {
      refused++
      return route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify({ status: 503, code: 'overloaded', detail: 'there is too much to do' }) })
    }, { times: 1 })
    await tab.visit('/q/default/audit', 'the database is being upgraded')
    expect(refused).toBe(1)
    expectQuiet(tab.watched, [/status of 503/])
  })

  test('an export whose answer breaks off says so in words, and saves nothing', async () => {
    const { page } = tab
    const cutting = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' })
      response.write('{"revision":0,"type":"QueuePaused","at":"2026-01-01T00:00:00.000Z","actor":"ada","data":{}}\n', () => response.destroy())
    })
    await once(cutting.listen(0, '127.0.0.1'), 'listening')
    await tab.visit('/q/default/audit', 'the database is being upgraded')
    await page.route('**/api/queues/default/events**', (route) => route.continue({ url: `http://127.0.0.1:${(cutting.address() as AddressInfo).port}/` }))
    let saved = 0
    page.on('download', () => saved++)
    await page.getByRole('button', { name: 'JSON lines' }).click()
    const alert = page.locator('main').getByRole('alert')
    await alert.waitFor()
    expect(await alert.textContent()).toBe('the answer broke off')
    expect(saved).toBe(0)
    await page.unroute('**/api/queues/default/events**')
    cutting.close()
    expectQuiet(tab.watched, [/ERR_INCOMPLETE_CHUNKED_ENCODING/])
  })

  test('a dialog does not come back after a login as somebody else', async () => {
    const { admin, url } = server()
    const made = await admin.tokens.create({ name: 'guest', roles: ['operator'] })
    const other = await openTab(browser, url, made.token)
    const { page } = other
    const { dialog } = handsOf(other)
    await other.visit('/q/default/breakers', 'ops-security')
    await page.getByRole('button', { name: 'Open for another type …' }).click()
    await dialog.waitFor()
    await admin.tokens.revoke(made.id, 'the guest has left')
    await page.getByLabel('Token').fill(server().tokens.ben)
    await page.getByRole('button', { name: 'Open the console' }).click()
    await page.getByText('ops-security').first().waitFor()
    await other.settled()
    expect(await dialog.count()).toBe(0)
    expectQuiet(other.watched, [/status of 401/, /WebSocket/])
  })

  test('a server that does not tell who one is says why, and is asked again', async () => {
    const other = await openTab(browser, server().url, server().tokens.ada)
    const { page } = other
    await page.route('**/api/me', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', body: JSON.stringify({ status: 503, code: 'unavailable', detail: 'the tokens are being read' }) }))
    await page.goto(`${server().url}/q/default/breakers`)
    await page.getByText('the tokens are being read').waitFor()
    await page.unroute('**/api/me')
    await page.getByText('ops-security').first().waitFor()
    expectQuiet(other.watched, [/status of 503/])
  })
})
