/** CON-8: of a past moment, whatever depends on the clock is of that moment, and not of now. */
import { readFileSync } from 'node:fs'
import type { TaskView } from '@daybook/client'
import { durationText } from '@daybook/console/internal'
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { adminToken } from './fleet.js'
import { handsOf } from './hands.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

const minuteMs = 60_000
const quarterMs = 15 * minuteMs
const iso = (ms: number): string => new Date(ms).toISOString()

describe.skipIf(withoutBrowser)('CON-8: time in the past', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  /** Claimed six minutes before the end of the log, and still held. */
  let held: TaskView
  let claimedAt: number
  beforeAll(async () => {
    const { admin, url, tokens } = server()
    const [found] = (await admin.tasks({ status: ['in-progress'], limit: 1 })).tasks
    if (found?.claimedAt === undefined || found.claimedAt === null) throw new Error('no task of the fleet is held')
    held = found
    claimedAt = Date.parse(found.claimedAt)
    tab = await openTab(browser, url, tokens.ben)
  })
  const textOf = async (selector: string): Promise<string> => (await tab.page.locator(selector).allTextContents()).join('\n')

  test('of a task: how long it has run, and when its lease ends', async () => {
    await tab.visit(`/q/default/tasks/${held.id}?at=${iso(claimedAt + 2 * minuteMs)}`, 'lease ends')
    expect(await textOf('.facts')).toMatch(/lease ends in \d+ (min|h)/)
    expect(await textOf('.visits li:last-child')).toContain('for 2 min')
    const row = tab.page.getByRole('region', { name: 'Attempts' }).getByRole('row').filter({ hasText: 'running' })
    expect(await row.getByRole('cell', { name: '2 min', exact: true }).count()).toBe(1)
    expectQuiet(tab.watched)
  })

  test('of an agent, for the moment of a revision: since when it holds a task', async () => {
    const claim = (await server().admin.history(held.id)).findLast(({ type }) => type === 'Claimed')
    await tab.visit(`/q/default/agents?revision=${claim?.revision ?? 0}`, held.id)
    expect(await tab.page.locator('div', { has: tab.page.getByRole('link', { name: held.id, exact: true }) }).last().textContent()).toMatch(/for 0 s, lease ends in/)
    expectQuiet(tab.watched)
  })

  test('of a breaker: when a test task is let through', async () => {
    const { openedAt = '', halfOpenAt = '' } = (await server().admin.breakers.list())['ops-security'] ?? {}
    const at = Date.parse(openedAt) + minuteMs
    await tab.visit(`/q/default/breakers?at=${iso(at)}`, 'A test task')
    expect(await textOf('main .panel')).toContain(`let through in ${durationText(Math.round((Date.parse(halfOpenAt) - at) / 1_000))}.`)
    expectQuiet(tab.watched)
  })

  test('of a search for ages, for the moment of a revision', async () => {
    const [enqueued] = await server().admin.history(held.id)
    await tab.visit(`/q/default/tasks?q=age:>1h&revision=${enqueued?.revision ?? 0}`, 'tasks')
    const asked = `createdBefore=${iso(Date.parse(enqueued?.at ?? '') - 60 * minuteMs)}&`
    await expect.poll(() => tab.watched.requests.some((request) => request.includes(asked)), { timeout: 30_000 }).toBe(true)
    expectQuiet(tab.watched)
  })

  test('of an export: the tasks of then, all that match or those that are selected', async () => {
    const { page } = tab
    await tab.visit('/q/default/tasks?revision=150', 'Nothing can be changed here')
    const hands = handsOf(tab)
    const exported = async (): Promise<ReadonlyArray<string>> => {
      await hands.press(/^Export …$/)
      const [file] = await Promise.all([page.waitForEvent('download'), hands.dialog.getByRole('button', { name: 'Export' }).click()])
      return readFileSync(await file.path(), 'utf8').trimEnd().split('\r\n').slice(1)
    }
    const total = Number(/^\d+/.exec((await page.locator('.title [role=status]').textContent()) ?? '')?.[0])
    expect((await server().admin.tasks({ limit: 1_000 })).tasks.length).toBeGreaterThan(total)
    expect(await exported()).toHaveLength(total)
    const row = page.locator('.task-list tbody tr').filter({ has: page.getByRole('checkbox') }).first()
    await row.getByRole('checkbox').check()
    const [id = '', status = ''] = await Promise.all([row.locator('.of-id').textContent(), row.locator('.of-status').textContent()]).then((texts) => texts.map((text) => text?.trim() ?? ''))
    expect((await server().admin.task(id)).status).not.toBe(status)
    const [line = ''] = await exported()
    expect(line.split(',').filter((_, i) => i === 0 || i === 3)).toEqual([id, status])
    expectQuiet(tab.watched)
  })

  test('of a chart: the depth at its end, a quarter of an hour; before the first event it is 0', async () => {
    const unfinishedAt = async (at: number): Promise<number> => {
      const answer = await fetch(`${server().url}/api/queues/default/depth?at=${iso(at)}`, { headers: { authorization: `Bearer ${adminToken}` } })
      const { byStatus } = (await answer.json()) as { readonly byStatus: Readonly<Record<string, number>> }
      return Object.entries(byStatus).reduce((sum, [status, count]) => (['completed', 'cancelled', 'discarded', 'dead-letter'].includes(status) ? sum : sum + count), 0)
    }
    const chartThatEndsWith = (depth: number) => tab.page.getByRole('img', { name: `unfinished tasks over 6 hours, ${depth} at their end` })
    // A moment that has another depth than the quarter before it.
    let end = Math.floor(claimedAt / quarterMs) * quarterMs - 4 * quarterMs
    while ((await unfinishedAt(end)) === (await unfinishedAt(end + quarterMs - minuteMs))) end -= quarterMs
    await tab.visit(`/q/default?at=${iso(end + quarterMs - minuteMs)}`, 'Depth, 6 hours')
    await chartThatEndsWith(await unfinishedAt(end)).waitFor()
    expectQuiet(tab.watched)

    const [first] = (await server().admin.events({ from: 0, limit: 1 })).events
    await tab.visit(`/q/default?at=${iso(Date.parse(first?.at ?? '') + 1)}`, 'Depth, 6 hours')
    await chartThatEndsWith(0).waitFor()
    expectQuiet(tab.watched)
  })

  test('what was on another day has its year and its seconds, in the log and in who did what', async () => {
    const [paused] = (await server().admin.events({ type: 'QueuePaused' })).events
    const at = Date.parse(paused?.at ?? '')
    const inTwoDays = Date.now() + 2 * 24 * 60 * minuteMs
    await tab.page.clock.setFixedTime(inTwoDays)
    // The page believes its server, and not its own clock.
    await tab.page.route('**/api/**', async (route) => {
      const response = await route.fetch()
      await route.fulfill({ response, headers: { ...response.headers(), date: new Date(inTwoDays).toUTCString() } })
    })
    for (const path of ['audit?hours=168', `log?from=${paused?.revision ?? 0}`]) {
      await tab.visit(`/q/default/${path}`, 'QueuePaused')
      const shown = await tab.page.getByRole('row').filter({ hasText: 'QueuePaused' }).locator('time').first().textContent()
      expect(shown).toContain(String(new Date(at).getFullYear()))
      expect(shown).toContain(iso(at).slice(16, 19))
    }
    expectQuiet(tab.watched)
  })
})
