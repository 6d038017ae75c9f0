/** A server that is killed and comes back, an answer that is lost, and tabs that nobody looks at. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inTime, patienceMs } from '../support/in-time.js'
import { useBrowser, withoutBrowser } from './browser.js'
import { handsOf } from './hands.js'
import { type KillableServer, startKillableServer } from './killable-server.js'
import { openTab, type Tab } from './open-page.js'
import { expectQuiet } from './watch-page.js'

/** What a browser says of requests that no server answers. */
const unanswered = /ERR_CONNECTION_REFUSED|ERR_CONNECTION_RESET|ERR_EMPTY_RESPONSE|ERR_SOCKET_NOT_CONNECTED|ERR_FAILED|WebSocket/
/** What a server says of a queue that it is still reading. */
const starting = /status of 503/

describe.skipIf(withoutBrowser)('the connection', () => {
  const browser = useBrowser()
  let server: KillableServer
  let tab: Tab
  beforeAll(async () => {
    if (withoutBrowser) return
    server = await startKillableServer()
    tab = await openTab(browser, server.url, server.tokens.ada)
  })
  afterAll(() => server?.remove())

  const isLive = (): Promise<void> => tab.page.locator('.connection[data-state="open"]').waitFor()
  const said = () => tab.page.getByText('No connection to the server')
  const requeuedOf = async (task: string) => (await server.admin.events({ type: 'Requeued', task })).events

  test('a server that is killed is told of in one place, with the age of what is shown; it goes on by itself when the server is back', async () => {
    const { page, visit } = tab
    await visit('/q/default/dead-letters', '550 mailbox unavailable')
    await isLive()
    await server.kill()
    await said().waitFor()
    expect(await said().count()).toBe(1)
    expect(await page.locator('.banner.lost').textContent()).toMatch(/What is shown is of \d\d:\d\d:\d\d, .+ ago\. Trying again/)
    const top = async (of: ReturnType<typeof said>): Promise<number> => (await of.boundingBox())?.y ?? Number.NaN
    expect(await top(said())).toBeLessThan(await top(page.locator('main')))
    // What was shown stays, without an error beside it.
    expect(await page.getByRole('alert').count()).toBe(0)
    expect(await page.getByText('550 mailbox unavailable').count()).toBeGreaterThan(0)
    // A page that was not loaded before comes as well, as soon as it can.
    await page.getByRole('link', { name: 'Agents' }).click()
    const loads = await page.evaluate(() => performance.getEntriesByType('navigation').length + performance.timeOrigin)
    await server.start()
    await isLive()
    await said().waitFor({ state: 'detached' })
    await page.getByText('mailer-1').first().waitFor()
    await page.getByRole('link', { name: 'Dead letters' }).click()
    await page.getByText('550 mailbox unavailable').first().waitFor()
    // What happens now is shown as it happens.
    await server.admin.deadLetters.discardAll({ type: 'mail-welcome' }, { reviewer: 'test', reason: 'to be seen' })
    await page.getByText('550 mailbox unavailable').first().waitFor({ state: 'detached' })
    expect(await page.evaluate(() => performance.getEntriesByType('navigation').length + performance.timeOrigin)).toBe(loads)
    expectQuiet(tab.watched, [unanswered, starting, /dynamically imported module/])
  })

  test('a command during which the server is killed says so, is not sent again by itself, and is done once', async () => {
    const { page, visit } = tab
    const { dialog, press } = handsOf(tab)
    const [letter] = (await server.admin.deadLetters.list({ type: 'data-import', limit: 1 })).tasks
    const { id } = letter as NonNullable<typeof letter>
    await visit(`/q/default/tasks/${id}`, 'upstream timed out')
    await isLive()
    await press(/^Retry …$/)
    // The server has done it; before it can say so, it is gone.
    await page.route('**/dead-letters/*/retry', async (route) => {
      await route.fetch()
      await server.kill()
      await route.abort('connectionreset')
    })
    await dialog.locator('[name="reason"]').fill('upstream is back')
    await dialog.getByRole('button', { name: 'Retry' }).click()
    await dialog.getByRole('alert').getByText('the server does not answer').waitFor()
    await page.unroute('**/dead-letters/*/retry')
    tab.watched.forget()
    await server.start()
    await isLive()
    expect(tab.watched.requests.filter((request) => request.startsWith('POST'))).toEqual([])
    expect(await requeuedOf(id)).toHaveLength(1)
    // Who presses again is told that it is done.
    await dialog.getByRole('button', { name: 'Retry' }).click()
    await dialog.getByRole('alert').getByText('wrong-state').waitFor()
    await dialog.getByRole('button', { name: 'Leave it' }).click()
    expect(await requeuedOf(id)).toHaveLength(1)
    expectQuiet(tab.watched, [unanswered, starting, /status of 409/])
  })

  test('a command whose answer is lost can be sent once more: the server answers it again, and does it once', async () => {
    const { page, visit } = tab
    const { dialog, became } = handsOf(tab)
    await visit('/q/default/breakers', 'ops-security')
    await page.getByRole('button', { name: 'Open for another type …' }).click()
    await page.route('**/breakers/*/open', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    }, { times: 1 })
    await dialog.locator('[name="field-type"]').fill('eng-docs')
    await dialog.locator('[name="reason"]').fill('the printer burns')
    await dialog.getByRole('button', { name: 'Open it' }).click()
    await dialog.getByRole('alert').getByText('the server does not answer').waitFor()
    await dialog.getByRole('button', { name: 'Open it' }).click()
    expect(await became('BreakerOpened', server.admin)).toMatchObject({ actor: 'ada', data: { taskType: 'eng-docs', reason: 'the printer burns' } })
    expect((await server.admin.events({ type: 'BreakerOpened', actor: 'ada' })).events).toHaveLength(1)
    expectQuiet(tab.watched, [unanswered])
  })

  test('a server that stands still, without ending a connection, is told of, and goes on to be asked', async () => {
    const other = await openTab(browser, server.url, server.tokens.ada)
    const { page } = other
    await other.visit('/q/default/agents', 'mailer-1')
    await page.locator('.connection[data-state="open"]').waitFor()
    server.freeze()
    try {
      await page.getByText('No connection to the server').waitFor()
    } finally {
      server.thaw()
    }
    await page.getByText('No connection to the server').waitFor({ state: 'detached' })
    await page.getByText('mailer-1').first().waitFor()
    expectQuiet(other.watched, [unanswered])
  })

  test('a tab that is hidden asks nothing and has no connection; it is fresh at once when it is shown', async () => {
    // Its clock is its own, so that minutes pass at once.
    const other = await openTab(browser, server.url, server.tokens.ada)
    const { page, watched } = other
    await page.clock.install()
    let sockets = 0
    page.on('websocket', (socket) => {
      sockets++
      socket.on('close', () => sockets--)
    })
    await other.visit('/q/default/agents', 'mailer-1')
    await page.locator('.connection[data-state="open"]').waitFor()
    const hide = (hidden: boolean): Promise<void> =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { configurable: true, get: () => value })
        document.dispatchEvent(new Event('visibilitychange'))
      }, hidden)
    await hide(true)
    await other.settled()
    await inTime('the connection is closed', (async () => {
      while (sockets > 0) await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)))
    })())
    watched.forget()
    await page.clock.runFor(600_000)
    await server.admin.agents.register({ agentId: 'night-shift', types: ['*'], ttlSeconds: 3_600 })
    await page.clock.runFor(600_000)
    expect(watched.requests).toEqual([])
    expect(await page.getByText('night-shift').count()).toBe(0)
    // Teeth: when it is shown, the next beat of its clock asks, which is a quarter of a second.
    await hide(false)
    await page.clock.runFor(300)
    await page.getByText('night-shift').first().waitFor({ timeout: patienceMs })
    expect(watched.requests.some((request) => request.startsWith('WS '))).toBe(true)
    expectQuiet(watched)
  })
})
