/** What pages say where something is missing, and how they show what is too much for them. */
import { beforeAll, describe, expect, test } from 'vitest'
import { patienceMs } from '../support/in-time.js'
import { useBrowser, withoutBrowser } from './browser.js'
import { handsOf } from './hands.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

const phone = { width: 360, height: 740 }
const desk = { width: 1280, height: 800 }

describe.skipIf(withoutBrowser)('where something is missing', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ada)
  })

  test('a queue that was never used is named as such, with the queues that there are, until its first task comes', async () => {
    const { page } = tab
    await tab.visit('/q/nosuch/tasks', 'was never used')
    const said = page.locator('.content').getByRole('status').filter({ hasText: 'was never used' })
    expect(await said.getByRole('link').allTextContents()).toEqual(['default', 'mail', 'nightly'])
    const names = page.getByLabel('Queue').locator('option')
    expect(await names.allTextContents()).not.toContain('nosuch')
    await page.getByText('daybook enqueue TYPE --queue nosuch').waitFor()
    await server().admin.in('nosuch').enqueue({ id: 'first-of-all', type: 'mow' })
    await page.getByRole('link', { name: 'first-of-all' }).waitFor()
    await said.waitFor({ state: 'detached' })
    expect(await names.allTextContents()).toContain('nosuch')
    expectQuiet(tab.watched)
  })

  test('a queue that cannot be read is named with the reason, and the page does not take the server for a new one', async () => {
    const { page } = tab
    const list = '**/api/queues'
    await page.route(list, (route) => route.fulfill({ json: { queues: [], refused: [{ queue: 'cut', reason: 'its first events are gone' }] } }))
    await tab.visit('/', 'cannot be read')
    expect(await page.locator('.content').getByRole('status').filter({ hasText: 'cannot be read' }).textContent()).toBe('The queue cut cannot be read: its first events are gone')
    expect(await page.getByText('daybook enqueue').count()).toBe(0)
    await page.unroute(list)
    await page.getByRole('article', { name: 'queue mail' }).waitFor()
    expect(await page.getByText('cannot be read').count()).toBe(0)
    expectQuiet(tab.watched)
  })

  test('a page whose address has a name that every object has is shown as without it', async () => {
    for (const path of ['/q/default/audit?hours=constructor', '/q/default/tenants?hours=toString', '/q/default/reports?hours=valueOf', '/q/default/tasks?q=constructor:x']) {
      await tab.visit(path)
      await tab.page.locator('main h1').waitFor()
      expectQuiet(tab.watched)
    }
  })

  test('a page whose address has a time at the end of all times is shown all the same', async () => {
    const [first, last] = ['-271821-04-20T00:00:00Z', '%2B275760-09-13T00:00:00Z']
    for (const path of [`/?at=${last}`, `/q/default?at=${first}`, `/q/default/reports?from=${first}&to=${last}`, `/q/default/reports?from=2026-01-01&to=${last}`, `/q/default/audit?from=${last}`, `/q/default/changes?from=${first}&to=${last}`]) {
      await tab.visit(path)
      await tab.page.locator('main h1').waitFor()
      expectQuiet(tab.watched, [/status of 4\d\d/])
    }
  })

  test('a history of more than one answer says so, and shows the older events when they are asked for', async () => {
    const { page } = tab
    const queue = server().admin.in('long')
    await queue.enqueue({ id: 'of-many-events', type: 'mow' })
    const [claim] = await queue.claim({ agentId: 'ada' })
    const report = { agentId: 'ada', token: claim?.lease.token ?? 0, progress: 'half of it' }
    for (let i = 0; i < 6; i++) await queue.heartbeat('of-many-events', report)
    // As a server answers whose newest three events are as large as an answer may be.
    const isNewest = ({ pathname, searchParams }: URL): boolean => pathname.endsWith('/history') && !searchParams.has('before')
    await page.route(isNewest, async (route) => {
      const response = await route.fetch()
      const { events } = (await response.json()) as { readonly events: ReadonlyArray<{ readonly revision: number }> }
      return route.fulfill({ response, json: { events: events.slice(-3), next: events.at(-4)?.revision } })
    })
    await tab.visit('/q/long/tasks/of-many-events')
    const rows = page.getByRole('table', { name: 'Events of this task' }).locator('tbody tr')
    const note = page.getByText('There may be older events')
    await note.waitFor()
    expect(await rows.count()).toBe(3)
    await page.getByText('None began in the events that are shown.').waitFor()
    await page.getByRole('button', { name: 'Show older events' }).click()
    await note.waitFor({ state: 'detached' })
    expect(await rows.count()).toBe(8)
    expect(await rows.last().textContent()).toContain('TaskEnqueued')
    await page.getByRole('table', { name: 'Attempts' }).getByRole('link', { name: '1', exact: true }).waitFor()
    // They stay when the newest ones move on.
    await queue.heartbeat('of-many-events', report)
    await rows.nth(8).waitFor()
    expect(await rows.last().textContent()).toContain('TaskEnqueued')
    await page.unroute(isNewest)
    expectQuiet(tab.watched)
  })

  test('a browser that keeps nothing shows the console all the same, as long as the page is open', async () => {
    const context = await browser.newContext()
    await context.addInitScript(() => {
      for (const name of ['localStorage', 'sessionStorage']) {
        Object.defineProperty(window, name, {
          get: () => {
            throw new DOMException('Access is denied for this document.', 'SecurityError')
          },
        })
      }
    })
    const page = await context.newPage()
    page.setDefaultTimeout(patienceMs)
    await page.goto(`${server().url}/q/default/breakers#token=${server().tokens.ada}`)
    await page.getByText('ops-security').first().waitFor()
    await page.getByTitle('light or dark').click()
    await page.getByTitle('light or dark').getByText('Light').waitFor()
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByLabel('Token').waitFor()
  })

  test('a tenant and a type whose names have spaces lead to their tasks', async () => {
    await server().admin.in('spaces').enqueueAll([{ id: 'of-both', type: 'night shift', tenant: 'big "co"', deduplicate: 'off' }, { id: 'of-none', type: 'day', deduplicate: 'off' }])
    for (const link of ['night shift', 'big "co"']) {
      await tab.visit('/q/spaces/tasks/of-both', 'Life')
      await tab.page.locator('.facts').getByRole('link', { name: link, exact: true }).click()
      await tab.page.locator('.title').getByText('1 task', { exact: true }).waitFor()
      await tab.page.getByRole('link', { name: 'of-both' }).waitFor()
      expect(await tab.page.locator('.search-problems p').count()).toBe(0)
    }
    expectQuiet(tab.watched)
  })

  test('a comparison with a moment before the first event says so', async () => {
    await tab.visit('/q/mail/changes?from=2020-01-01T00:00:00.000Z', 'What became of them')
    const said = (await tab.page.locator('main p').first().textContent()) ?? ''
    expect(said).toContain('before the first event')
    expect(said).not.toContain('-1')
    expectQuiet(tab.watched)
  })

  test('ready tasks without an agent at work are a reason, which leads to the agents', async () => {
    await tab.visit('/q/mail', 'What keeps tasks from running')
    const reason = tab.page.getByRole('list', { name: 'tasks by what keeps them from running' }).getByRole('listitem').filter({ hasText: 'no agent is at work' })
    expect(await reason.locator('.figure').textContent()).toBe('40')
    await reason.getByRole('link').click()
    await tab.page.getByRole('heading', { name: 'Agents', exact: true }).waitFor()
    expectQuiet(tab.watched)
  })

  test('waits of a single quarter of an hour are drawn; without any, the page says so', async () => {
    const rare = server().admin.in('rare')
    await rare.enqueue({ id: 'only', type: 'mow' })
    await tab.visit('/q/rare', 'Waits, 6 hours')
    const waits = tab.page.getByRole('region', { name: 'Waits over time' })
    await waits.getByText('Too little has happened yet').waitFor()
    const [claim] = await rare.claim({ agentId: 'gardener' })
    expect(claim?.task.id).toBe('only')
    await expect.poll(async () => {
      await tab.visit('/q/rare', 'Waits, 6 hours')
      return waits.getByRole('img').count()
    }, { timeout: 60_000 }).toBe(1)
    // The colour of p50, which only its point has.
    const drawn = await waits.locator('canvas').evaluate((element) => {
      const canvas = element as HTMLCanvasElement
      const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] as ReadonlyArray<number> }
      let count = 0
      for (let i = 0; i < data.length; i += 4) {
        const [red = 0, green = 0, blue = 0, alpha = 0] = [data[i], data[i + 1], data[i + 2], data[i + 3]]
        if (alpha > 128 && Math.max(red, green, blue) - Math.min(red, green, blue) > 60) count++
      }
      return count
    })
    expect(drawn).toBeGreaterThan(5)
    expectQuiet(tab.watched)
  })

  test('what cannot be cancelled is not counted, and the dialog says how many that is', async () => {
    const hands = handsOf(tab)
    await tab.visit('/q/default/tasks?q=type:eng-docs', 'eng-docs')
    await hands.press(/^Cancel …$/)
    await hands.dialog.getByText(/^\d+ of \d+ that match \(finished tasks and dead letters are left out\) will be cancelled/).waitFor()
    const title = (await hands.dialog.getByRole('heading').textContent()) ?? ''
    expect(title).toMatch(/^Cancel \d+ tasks$/)
    await hands.dialog.getByRole('button', { name: 'Leave it' }).click()
    expectQuiet(tab.watched)
  })
})

describe.skipIf(withoutBrowser)('where there is much', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ben)
  })

  test('of many alerts three are shown, with the number of the others, and all on request', async () => {
    await tab.visit('/', 'only at night')
    const card = tab.page.getByRole('article', { name: 'queue default' })
    const alerts = card.getByRole('list', { name: 'alerts of default' }).getByRole('listitem')
    const count = (await server().admin.alerts()).length
    expect(count).toBeGreaterThan(3)
    await expect.poll(() => alerts.count()).toBe(3)
    await card.getByRole('button', { name: `${count - 3} more` }).click()
    expect(await alerts.count()).toBe(count)
    await alerts.getByRole('link', { name: 'dead letters' }).first().click()
    await tab.page.getByRole('heading', { name: 'Tasks', exact: true }).waitFor()
    expect(new URL(tab.page.url()).searchParams.get('q')).toMatch(/^type:\S+ status:dead-letter$/)
    expectQuiet(tab.watched)
  })

  test('the navigation says how many dead letters, open breakers and approvals there are', async () => {
    const { admin } = server()
    await tab.visit('/q/default/log', 'newest-1')
    const link = (name: string) => tab.page.locator('nav a', { hasText: name })
    const open = Object.values(await admin.breakers.list()).filter(({ state }) => state !== 'closed').length
    expect(await link('Dead letters').textContent()).toBe(`Dead letters ${(await admin.summary()).byStatus['dead-letter']}`)
    expect([await link('Breakers').textContent(), await link('Approvals').textContent()]).toEqual([`Breakers ${open}`, 'Approvals 2'])
    // Of a past moment they are not known, and those of now would be untrue.
    await tab.visit('/q/default/log?revision=5', 'Nothing can be changed here')
    expect(await link('Dead letters').textContent()).toBe('Dead letters')
    expectQuiet(tab.watched)
  })

  test.each(['summary', 'throughput', 'failures', 'fairness'])('the table of the report %s fits a desk', async (report) => {
    await tab.page.setViewportSize(desk)
    await tab.visit(`/q/default/reports?report=${report}`, 'Up to event')
    const table = tab.page.getByRole('region', { name: 'Figures' })
    const { width, shown } = await table.evaluate(({ scrollWidth, clientWidth }) => ({ width: scrollWidth, shown: clientWidth }))
    expect(width).toBeLessThanOrEqual(shown)
    expect((await table.textContent()) ?? '').not.toMatch(/[0-9a-f]{64}/)
    expectQuiet(tab.watched)
  })

  test('on a phone the link of the page is in view, and names are not torn apart letter by letter', async () => {
    await tab.page.setViewportSize(phone)
    await tab.visit('/q/default/agents', 'summariser-1')
    const link = await tab.page.locator('nav a[aria-current="page"]').boundingBox()
    expect(link?.x).toBeGreaterThanOrEqual(0)
    expect((link?.x ?? 0) + (link?.width ?? 0)).toBeLessThanOrEqual(phone.width)
    const name = await tab.page.locator('td .name', { hasText: 'summariser-1' }).boundingBox()
    expect(name?.height).toBeLessThan(30)
    expectQuiet(tab.watched)
  })
})
