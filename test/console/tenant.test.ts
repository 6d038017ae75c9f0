/** TEN-6: somebody with a token for tenants opens the console: it shows their tasks alone, asks for nothing that would be refused, and says what it leaves out. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, type DaybookClient } from '@daybook/adapters/client'
import { serve } from '@daybook/adapters/serve'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { axeFindings } from './axe.js'
import { useBrowser, withoutBrowser } from './browser.js'
import { adminToken } from './fleet.js'
import { handsOf } from './hands.js'
import { openTab, type Tab } from './open-page.js'
import { inQueue, pageRows } from './pages.js'
import { pressAll } from './press-all.js'
import { expectQuiet } from './watch-page.js'

/** In everything of the other tenant's. */
const marker = /globex/i
const shown = ({ page }: Tab): Promise<string> => page.evaluate(() => document.documentElement.outerHTML)

describe.skipIf(withoutBrowser)('a token for tenants', () => {
  const browser = useBrowser()
  const dataDir = mkdtempSync(join(tmpdir(), 'daybook-tenant-'))
  let server: Awaited<ReturnType<typeof serve>>
  let admin: DaybookClient
  let tab: Tab
  const tokenOf = async (name: string, tenants: ReadonlyArray<string>): Promise<string> => (await admin.tokens.create({ name, roles: ['operator'], tenants })).token

  beforeAll(async () => {
    if (withoutBrowser) return
    server = await serve({ host: '127.0.0.1', port: 0, dataDir, store: { kind: 'memory' }, auth: 'tokens', token: adminToken, memory: { kind: 'off' } })
    admin = createClient({ url: server.url, token: adminToken, queue: 'jobs' })
    await admin.settings.patch({ tenants: 'isolated', breakers: { defaults: { failureThreshold: 1 } } })
    for (const [tenant, count] of [['acme', 3], ['globex', 8]] as const) {
      for (let n = 1; n <= count; n++) await admin.enqueue({ id: `${tenant}:job-${n}`, type: tenant === 'acme' || n === 1 ? 'mail' : 'globex-mail', tenant, payload: { of: tenant, n } })
    }
    const [claim] = await admin.claim({ agentId: 'globex:w', tenant: 'globex', types: ['mail'] })
    await admin.fail('globex:job-1', { agentId: 'globex:w', token: claim?.lease.token ?? 0, error: 'refused by globex.example', retryable: false })
    const shared = createClient({ url: server.url, token: adminToken, queue: 'globex-only' })
    await shared.enqueue({ type: 'mail', tenant: 'globex' })
    await shared.close()
    await admin.pause('globex floods the queue')
    tab = await openTab(browser, server.url, await tokenOf('acme-support', ['acme']))
  })
  afterAll(async () => {
    await admin?.close()
    await server?.close()
    rmSync(dataDir, { recursive: true, force: true })
  })

  test('TEN-6: the first page has the isolated queues, with figures of these tasks; and from there one sees them, opens one, and cancels it', async () => {
    await tab.visit('/', 'You see the tasks of acme alone')
    const cards = tab.page.getByRole('article')
    expect(await cards.evaluateAll((all) => all.map((card) => card.getAttribute('aria-label')))).toEqual(['queue jobs'])
    expect(await axeFindings(tab.page)).toEqual([])
    expect(await cards.locator('.status-bar li').allInnerTexts()).toEqual([expect.stringMatching(/3\s*pending/)])
    await cards.getByRole('link', { name: 'jobs', exact: true }).click()
    await tab.page.getByText('3 tasks').waitFor()
    await tab.page.getByRole('link', { name: 'acme:job-2' }).click()
    await tab.page.getByText('it waits for something that the tenants of this queue share').first().waitFor()
    const hands = handsOf(tab)
    await hands.press(/^Cancel/)
    await hands.confirm(/Cancel the task/, /acme:job-2 is cancelled/, { reason: 'not needed' })
    await tab.page.getByRole('main').getByText('cancelled').first().waitFor()
    expect((await admin.task('acme:job-2')).status).toBe('cancelled')
    expectQuiet(tab.watched)
    expect(tab.watched.requests.filter((request) => request.startsWith('WS'))).toEqual([])
  })

  test('TEN-6: what another client does is seen without live messages', async () => {
    await tab.visit('/q/jobs/tasks', 'acme:job-1')
    await admin.enqueue({ id: 'acme:job-4', type: 'mail', tenant: 'acme', payload: { n: 4 } })
    await tab.page.getByRole('link', { name: 'acme:job-4' }).waitFor()
  })

  test("TEN-6: no page has anything of the other tenant's, nor asks for what is refused", async () => {
    /** As a link within the console does: the page is not loaded anew. */
    const goTo = (path: string): Promise<void> =>
      tab.page.evaluate((to) => {
        history.pushState(null, '', to)
        dispatchEvent(new PopStateEvent('popstate'))
      }, path)
    const wrong: Array<string> = []
    const rows = pageRows.map(({ name, path }) => ({ name, path: inQueue(path, 'jobs').replace('announce-1', 'acme:job-1') }))
    for (const { name, path } of [...rows, { name: 'the past', path: '/q/jobs/tasks?revision=1' }]) {
      tab.watched.forget()
      await goTo(path)
      await tab.settled()
      await pressAll(tab)
      await tab.settled()
      if (marker.test(await shown(tab))) wrong.push(`${name} shows something of globex`)
      if (!(await tab.page.getByText('You see the tasks of acme alone').isVisible())) wrong.push(`${name} does not say what it leaves out`)
      // A refusal is an error in the browser's console.
      wrong.push(...tab.watched.findings.map((finding) => `${name}: ${finding}`))
    }
    expect(wrong).toEqual([])
    const listed = await tab.page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts()
    expect(listed).toEqual(['Now', 'Tasks', 'Dead letters'])
  })

  test('TEN-6: with a token for several tenants, lists are of the one that is chosen', async () => {
    const both = await openTab(browser, server.url, await tokenOf('both', ['acme', 'globex']))
    await both.visit('/q/jobs/tasks', 'acme:job-1')
    expect(await shown(both)).not.toContain('globex:job')
    await both.page.getByRole('combobox', { name: 'Tenant', exact: true }).selectOption('globex')
    await both.page.getByRole('link', { name: 'globex:job-2' }).waitFor()
    expect(await shown(both)).not.toContain('acme:job')
    await both.page.getByRole('link', { name: 'Dead letters' }).click()
    await both.page.getByText('refused by globex.example').waitFor()
    expectQuiet(both.watched)
  })
})
