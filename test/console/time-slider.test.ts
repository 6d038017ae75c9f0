/** CON-8: the slider shows the whole console as it was, and two handles what changed. */
import type { Locator, Request } from 'playwright-core'
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

interface Story {
  readonly id: string
  readonly enqueuedAt: number
  readonly claimedAt: number
}

const minuteMs = 60_000

describe.skipIf(withoutBrowser)('CON-8: the time slider', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  /** A task that waited for minutes, and is done by now. */
  let story: Story
  beforeAll(async () => {
    const { admin, url, tokens } = server()
    story = await findStory(admin)
    tab = await openTab(browser, url, tokens.ada)
  })
  const taskPage = (): string => `/q/default/tasks/${story.id}`
  const chip = (of: Tab): Locator => of.page.locator('.task-head .chip')
  const handle = (of: Tab, name = 'Moment shown'): Locator => of.page.getByRole('slider', { name })
  /** From wherever it is, by keys alone, to a place between two times. */
  const moveTo = async (slider: Locator, from: number, to: number): Promise<void> => {
    const at = async (): Promise<number> => Number(await slider.inputValue())
    await slider.focus()
    while ((await at()) > to) await slider.press('PageDown')
    while ((await at()) < from) await slider.press('ArrowRight')
    expect(await at()).toBeLessThan(to)
  }
  /** The place of the slider before a time. */
  const placeAt = async (slider: Locator, time: number): Promise<void> => {
    const [min, step] = await slider.evaluate((input) => [Number((input as HTMLInputElement).min), Number((input as HTMLInputElement).step)] as const)
    await slider.fill(String(min + Math.floor((time - min) / step) * step))
  }
  const moveIntoWait = (slider: Locator): Promise<void> => moveTo(slider, story.enqueuedAt + 1_000, story.claimedAt - 1_000)
  const atOf = (of: Tab): string | null => new URL(of.page.url()).searchParams.get('at')

  test('a task that was pending and is done by now is shown pending, and nothing can be changed there', async () => {
    await tab.visit(taskPage(), 'completed')
    await tab.page.getByRole('button', { name: 'Restart …' }).waitFor()
    await moveIntoWait(handle(tab))
    await tab.page.getByText('Nothing can be changed here').waitFor()
    await chip(tab).filter({ hasText: 'pending' }).waitFor()
    await tab.settled()
    expect(await tab.page.locator('main button', { hasText: '…' }).count()).toBe(0)
    const at = Date.parse(atOf(tab) ?? '')
    expect(at).toBeGreaterThan(story.enqueuedAt)
    expect(at).toBeLessThan(story.claimedAt)
    // Other pages are of that moment as well, and so is the list of them.
    await tab.page.getByRole('link', { name: 'Tasks', exact: true }).first().click()
    await tab.settled()
    expect(atOf(tab)).toBe(new Date(at).toISOString())
    expectQuiet(tab.watched)
  })

  test('reload, the way back and a pasted address show the same; so does somebody who may only read', async () => {
    await tab.page.goBack()
    await chip(tab).filter({ hasText: 'pending' }).waitFor()
    await tab.page.reload()
    await chip(tab).filter({ hasText: 'pending' }).waitFor()
    const other = await openTab(browser, server().url, server().tokens.ben)
    await other.visit(tab.page.url().slice(server().url.length), 'pending')
    expect(await chip(other).textContent()).toBe('pending')
    expect(Math.abs(Number(await handle(other).inputValue()) - Date.parse(atOf(tab) ?? ''))).toBeLessThan(minuteMs)
    await other.page.close()
  })

  test('the end of the slider is the present', async () => {
    await handle(tab).press('End')
    await chip(tab).filter({ hasText: 'completed' }).waitFor()
    expect(atOf(tab)).toBeNull()
    await tab.page.getByText('Nothing can be changed here').waitFor({ state: 'detached' })
  })

  test('event by event, by buttons and keys; what the last event was is told', async () => {
    const { revision } = await server().admin.summary().then((queues) => ({ revision: queues.revision }))
    await tab.visit(taskPage(), 'completed')
    await tab.page.getByRole('button', { name: 'one event earlier' }).click()
    await tab.page.getByText(`after event ${revision - 1}:`).waitFor()
    await tab.page.locator('body').press('[')
    await tab.page.getByText(`after event ${revision - 2}:`).waitFor()
    await tab.page.locator('body').press(']')
    await tab.page.getByText(`after event ${revision - 1}:`).waitFor()
    await tab.page.locator('body').press(']')
    await tab.page.getByText('Nothing can be changed here').waitFor({ state: 'detached' })
    expect(new URL(tab.page.url()).search).toBe('')
  })

  test('nothing is asked on the way; what is not wanted any more is given up; until the moment is there, what is left over cannot be pressed', async () => {
    const slow = await openTab(browser, server().url, server().tokens.ada)
    const { page } = slow
    // Before the page is loaded: a page that runs already would see the time 0 for a moment.
    await page.clock.install()
    await slow.visit(taskPage(), 'completed')
    const asked: Array<Request> = []
    const givenUp = new Set<Request>()
    page.on('request', (request) => void (/[?&]at=/.test(request.url()) && asked.push(request)))
    page.on('requestfailed', (request) => void givenUp.add(request))
    let release: () => void = () => undefined
    const released = new Promise<void>((resolve) => (release = resolve))
    await page.route(/[?&]at=/, async (route) => {
      await released
      await route.continue().catch(() => undefined)
    })
    await page.clock.pauseAt(Date.now() + minuteMs)
    // There is room for one step more.
    await moveTo(handle(slow), story.enqueuedAt + 1_000, story.claimedAt - minuteMs)
    expect(asked).toEqual([])
    await page.clock.resume()
    await page.getByText('Computing this moment').waitFor()
    expect(new Set(asked.map((request) => new URL(request.url()).searchParams.get('at'))).size).toBe(1)
    // It is still the answer of now that stands there.
    expect(await chip(slow).textContent()).toBe('completed')
    expect(await page.locator('main').evaluate((main) => [(main as HTMLElement).inert, main.getAttribute('aria-busy')])).toEqual([true, 'true'])
    const first = [...asked]
    await handle(slow).press('ArrowRight')
    await expect.poll(() => first.every((request) => givenUp.has(request)), { timeout: 30_000 }).toBe(true)
    release()
    await chip(slow).filter({ hasText: 'pending' }).waitFor()
    await slow.settled()
    expect(await page.locator('main').evaluate((main) => (main as HTMLElement).inert)).toBe(false)
    await page.close()
  })

  test('two handles show what changed between two moments, with links to the tasks', async () => {
    await tab.visit(taskPage(), 'completed')
    await moveIntoWait(handle(tab))
    await chip(tab).filter({ hasText: 'pending' }).waitFor()
    await tab.page.getByRole('link', { name: 'What changed since' }).click()
    const row = tab.page.getByRole('row').filter({ has: tab.page.getByRole('link', { name: story.id, exact: true }) })
    await row.waitFor()
    expect(await row.locator('.way').textContent()).toBe('pending → completed')
    await row.getByRole('link', { name: 'as it was' }).click()
    await chip(tab).filter({ hasText: 'pending' }).waitFor()
    await tab.page.goBack()
    await row.waitFor()
    // The later handle, moved before the claim: of this task nothing differs any more.
    const { searchParams } = new URL(tab.page.url())
    const from = Date.parse(searchParams.get('from') ?? '')
    await placeAt(handle(tab, 'Compared: later moment'), (from + story.claimedAt) / 2)
    await row.waitFor({ state: 'detached' })
    expect(new URL(tab.page.url()).searchParams.get('from')).toBe(searchParams.get('from'))
    expect(Date.parse(new URL(tab.page.url()).searchParams.get('to') ?? '')).toBeLessThan(story.claimedAt)
    await tab.settled()
    expectQuiet(tab.watched)
  })

  test('on the first page every queue is shown as it was', async () => {
    await tab.visit('/')
    await handle(tab).press('PageDown')
    await tab.page.getByText('Nothing can be changed here').waitFor()
    await tab.settled()
    expect(await tab.page.getByRole('button', { name: 'Pause …' }).count()).toBe(0)
    expect(tab.watched.requests.some((request) => /\/api\/queues\/mail\?at=/.test(request))).toBe(true)
  })
})

const findStory = async (admin: ReturnType<ReturnType<typeof useConsoleServer>>['admin']): Promise<Story> => {
  for await (const { id } of admin.eachTask({ status: ['completed'] })) {
    const events = await admin.history(id)
    const [enqueued, claimed] = ['TaskEnqueued', 'Claimed'].map((type) => Date.parse(events.find((event) => event.type === type)?.at ?? ''))
    if (enqueued !== undefined && claimed !== undefined && claimed - enqueued > 3 * minuteMs && events.filter(({ type }) => type === 'Claimed').length === 1) return { id, enqueuedAt: enqueued, claimedAt: claimed }
  }
  throw new Error('no task of the fleet waited for three minutes')
}
