/** CON-9, CON-10: who did what, and reports: what is asked for is in the address, and what is saved is what is shown. */
import { readFileSync } from 'node:fs'
import { serve } from '@daybook/adapters/serve'
import { createClient } from '@daybook/adapters/client'
import { beforeAll, describe, expect, test } from 'vitest'
import { useBrowser, withoutBrowser } from './browser.js'
import { openTab, type Tab } from './open-page.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

describe.skipIf(withoutBrowser)('pages that one reads', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ben)
  })
  const query = (): URLSearchParams => new URL(tab.page.url()).searchParams
  /** The file that a button saves. */
  const saved = async (button: string): Promise<{ readonly name: string; readonly text: string }> => {
    const coming = tab.page.waitForEvent('download')
    await tab.page.getByRole('button', { name: button, exact: true }).click()
    const file = await coming
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') }
  }
  const rows = (): Promise<ReadonlyArray<string>> => tab.page.locator('main tbody tr').allTextContents()

  test('CON-9: an auditor sees what people decided, by whom and why, and what others did on request', async () => {
    await tab.visit('/q/default/audit', 'the database is being upgraded')
    const decided = await rows()
    expect(decided.some((row) => /ada.*QueuePaused.*the database is being upgraded/.test(row))).toBe(true)
    expect(decided.some((row) => /ada.*QueueConfigured/.test(row))).toBe(true)
    expect(decided.filter((row) => /ticket-system|Claimed/.test(row))).toEqual([])
    await tab.page.getByLabel('with what was enqueued').check()
    await tab.page.getByText('TaskEnqueued').first().waitFor()
    expect(query().get('work')).toBe('shown')
    expectQuiet(tab.watched)
  })

  test('CON-9: by actor, task and period, in the address; the file has the same', async () => {
    await tab.visit('/q/default/audit', 'the database is being upgraded')
    await tab.page.getByLabel('Actor').fill('ada')
    await tab.page.getByLabel('Actor').press('Enter')
    await tab.settled()
    expect(query().get('actor')).toBe('ada')
    const shown = await rows()
    expect(shown.length).toBeGreaterThan(4)
    expect(shown.every((row) => row.includes('ada'))).toBe(true)
    await tab.page.reload()
    await tab.settled()
    expect(await rows()).toEqual(shown)

    const { name, text } = await saved('CSV')
    expect(name).toBe('default-who-did-what.csv')
    const [header, ...lines] = text.trimEnd().split('\r\n')
    expect(header).toBe('revision,at,actor,type,task,subject,reason,correlationId')
    expect(lines.filter((line) => line.includes(',ada,QueuePaused,')).length).toBe(1)
    expect(lines.every((line) => line.includes(',ada,'))).toBe(true)
    const events = (await saved('JSON lines')).text.trimEnd().split('\n').map((line) => JSON.parse(line) as { revision: number; actor: string })
    expect(events.map(({ revision }) => String(revision))).toEqual(lines.map((line) => line.split(',', 1)[0]))

    // One task, whoever worked on it; and a period in which nothing of it happened.
    const { admin } = server()
    const [first] = await admin.history('release-1')
    await tab.visit('/q/default/audit?task=release-1&work=shown', 'release-1')
    expect((await rows()).every((row) => row.includes('release-1'))).toBe(true)
    const before = (ms: number): string => new Date(Date.parse(first?.at ?? '') - ms).toISOString()
    await tab.visit(`/q/default/audit?task=release-1&work=shown&from=${before(60_000)}&to=${before(1_000)}`, 'Nobody did anything')
  })

  test('CON-10: a report by type and hour, in a zone: the figures and the picture of the server, and the files', async () => {
    await tab.visit('/q/default/reports', 'Percentiles are within 1 %')
    await tab.page.getByRole('link', { name: 'Throughput' }).click()
    await tab.page.getByLabel('Buckets').selectOption('hour')
    await tab.page.getByLabel('Group by').selectOption('type')
    await tab.page.getByLabel('Time zone').fill('Asia/Kathmandu')
    await tab.page.getByLabel('Time zone').press('Tab')
    await tab.page.getByText('Asia/Kathmandu.').waitFor()
    await tab.settled()
    expect(Object.fromEntries(query())).toEqual({ report: 'throughput', bucket: 'hour', by: 'type', zone: 'Asia/Kathmandu' })
    const shown = await rows()
    await tab.page.reload()
    await tab.settled()
    expect(await rows()).toEqual(shown)

    const csv = await saved('CSV')
    expect(csv.name).toBe('default-throughput.csv')
    expect(csv.text.trimEnd().split('\r\n')).toHaveLength(shown.length + 1)
    expect(csv.text).toContain('+05:45')
    const svg = (await saved('SVG')).text
    const drawn = await tab.page.locator('main img').evaluate(async (image) => ({ svg: decodeURIComponent((image as HTMLImageElement).src.replace(/^[^,]*,/, '')), width: (image as HTMLImageElement).naturalWidth }))
    expect(drawn).toEqual({ svg, width: 760 })
    const json = JSON.parse((await saved('JSON')).text) as { readonly rows: ReadonlyArray<{ readonly type: string; readonly completed: number }> }
    expect(json.rows).toHaveLength(shown.length)
    for (const [i, { type, completed }] of json.rows.entries()) {
      expect(shown[i]).toContain(type)
      expect(shown[i]).toContain(String(completed))
    }
    expectQuiet(tab.watched)
  })

  test('CON-10: a wrong zone is refused in words', async () => {
    await tab.visit('/q/default/reports?zone=Mars', 'query.zone')
    expectQuiet(tab.watched, [/status of 400/])
  })

  test('CON-10: a server without read models says how reports are switched on', async () => {
    const other = await serve({ host: '127.0.0.1', port: 0, dataDir: 'unused', store: { kind: 'memory' }, auth: 'off', memory: { kind: 'off' } })
    const client = createClient({ url: other.url })
    try {
      await client.enqueue({ type: 'mow' })
      const page = await openTab(browser, other.url, '')
      await page.visit('/q/default/reports', 'Reports are switched off')
      expect(await page.page.locator('main').textContent()).toContain('--read-models off')
      expectQuiet(page.watched, [/status of 409/])
      await page.page.close()
    } finally {
      await client.close()
      await other.close()
    }
  })
})
