/** What operators and guardians come to the console for, each as a story on its own tasks. What became of it is read in the log. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { inTime } from '../support/in-time.js'
import { useBrowser, withoutBrowser } from './browser.js'
import { adminToken } from './fleet.js'
import { type Hands, handsOf } from './hands.js'
import { openTab, type Tab } from './open-page.js'
import { mailboxSignature } from './pages.js'
import { useConsoleServer } from './server.js'
import { expectQuiet } from './watch-page.js'

describe.skipIf(withoutBrowser)('an operator at three in the morning', () => {
  const server = useConsoleServer()
  const browser = useBrowser()
  let tab: Tab
  let hands: Hands
  beforeAll(async () => {
    tab = await openTab(browser, server().url, server().tokens.ada)
    hands = handsOf(tab)
  })
  beforeEach(() => tab.watched.forget())

  const became = (type: string) => hands.became(type, server().admin)
  /** All events of a type that a person caused, oldest first. */
  const eventsOf = async (type: string, actor = 'ada', queue = 'default') => (await server().admin.in(queue).events({ type, actor, limit: 1_000 })).events
  const until = (what: string, holds: () => Promise<boolean>): Promise<void> =>
    inTime(what, (async () => {
      while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50))
    })())
  /** A dead letter that no other story uses. */
  const taken = new Set<string>()
  const aDeadLetter = async (type: string): Promise<string> => {
    const { tasks } = await server().admin.deadLetters.list({ type })
    const id = tasks.find((task) => !taken.has(task.id))?.id ?? ''
    taken.add(id)
    return id
  }

  test('pauses a queue, and lets it go on', async () => {
    await tab.visit('/', 'only at night')
    const card = tab.page.getByRole('article', { name: 'queue mail' })
    await card.getByRole('button', { name: 'Pause …' }).click()
    await hands.confirm(/^Pause$/, /mail is paused/, { reason: 'the disk is full' })
    expect(await eventsOf('QueuePaused', 'ada', 'mail')).toMatchObject([{ data: { reason: 'the disk is full' } }])
    await card.getByText('paused: the disk is full').waitFor()
    await card.getByRole('button', { name: 'Resume …' }).click()
    await hands.confirm(/^Resume$/, /mail goes on/, { reason: 'there is room again' })
    expect(await eventsOf('QueueResumed', 'ada', 'mail')).toMatchObject([{ data: { reason: 'there is room again' } }])
    expectQuiet(tab.watched)
  })

  test('sends one dead letter back', async () => {
    const id = await aDeadLetter('ops-security')
    await tab.visit(`/q/default/tasks/${id}`, 'ECONNREFUSED')
    await hands.press(/^Retry …$/)
    await hands.confirm(/^Retry$/, /is back in the queue/, { reason: 'the scanner is up' })
    expect(await became('Requeued')).toMatchObject({ actor: 'ada', data: { task: id, reviewer: 'ada', reason: 'the scanner is up' } })
    // The link of what was done leads to the event.
    await tab.page.locator('.notice').getByRole('link', { name: /^Requeued/ }).click()
    await tab.page.locator('main tr').filter({ hasText: 'Requeued' }).filter({ hasText: id }).first().waitFor()
    expectQuiet(tab.watched)
  })

  test('sends one back with another payload, which is sent as it was written: a number that JSON cannot hold is refused, not rounded', async () => {
    const id = await aDeadLetter('ops-security')
    await tab.visit(`/q/default/tasks/${id}`, 'ECONNREFUSED')
    await hands.press(/^Edit and retry …$/)
    await hands.dialog.locator('[name="field-payload"]').fill('{"order": 0.1234567890123456789, "price": 1.10}')
    await hands.dialog.locator('[name="reason"]').fill('the order was wrong')
    await hands.dialog.getByRole('button', { name: 'Retry with this payload' }).click()
    await hands.dialog.getByRole('alert').getByText('payload.order: is more than a JSON number holds exactly').first().waitFor()
    await hands.confirm(/^Retry with this payload$/, /with another payload/, { fields: { payload: '{"order": "0.1234567890123456789", "price": 1.10}' } })
    // Two events: the first is the one that is shown.
    expect(await became('TaskAmended')).toMatchObject({ actor: 'ada', data: { task: id } })
    expect((await eventsOf('Requeued')).at(-1)).toMatchObject({ data: { task: id, reason: 'the order was wrong' } })
    expect((await server().admin.task(id)).payload).toEqual({ order: '0.1234567890123456789', price: 1.1 })
    expectQuiet(tab.watched, [/status of 400/])
  })

  test('gives one up', async () => {
    const id = await aDeadLetter('ops-security')
    await tab.visit(`/q/default/tasks/${id}`, 'ECONNREFUSED')
    await hands.press(/^Discard …$/)
    await hands.confirm(/^Discard$/, /is discarded/, { reason: 'nobody needs it' })
    expect(await became('Discarded')).toMatchObject({ actor: 'ada', data: { task: id, reviewer: 'ada', reason: 'nobody needs it' } })
    await tab.page.getByRole('button', { name: 'Restart …' }).waitFor()
    expectQuiet(tab.watched)
  })

  test('sends a group of dead letters back, slowly, sees how far that is, and stops it', async () => {
    const { admin } = server()
    await tab.visit('/q/default/dead-letters', '550 mailbox unavailable')
    await tab.page.getByRole('link', { name: /550 mailbox/ }).click()
    await tab.page.getByRole('button', { name: 'Retry …' }).click()
    const { count = 0 } = (await admin.deadLetters.patterns()).find(({ signature }) => signature === mailboxSignature) ?? {}
    await hands.dialog.getByText(`${count} dead letters`).waitFor()
    // The dry run has changed nothing.
    expect(await eventsOf('RedriveStarted')).toEqual([])
    await hands.confirm(/^Retry \d+ tasks$/, /go back to the queue, 1 a minute/, { reason: 'the mail server is back', fields: { perMinute: '1' } })
    expect(await became('RedriveStarted')).toMatchObject({ actor: 'ada', data: { perMinute: 1, reviewer: 'ada', reason: 'the mail server is back', filter: { type: 'mail-welcome', signature: mailboxSignature } } })
    await tab.page.getByText('Redrive under way').waitFor()
    await until('the first has gone back', async () => (await admin.deadLetters.redriveStatus())?.retried === 1)
    await tab.page.getByRole('progressbar', { name: `1 of ${count} are back in the queue` }).waitFor()
    await hands.press(/^Stop/)
    await hands.confirm(/^Stop it$/, /The redrive has stopped/, { reason: 'enough for now' })
    await tab.page.getByText('Last redrive').waitFor()
    expect(await eventsOf('RedriveStopped')).toMatchObject([{ data: { cause: 'by-hand', reason: 'enough for now' } }])
    expectQuiet(tab.watched)
  })

  test('notes on a group that somebody else must decide, snoozes another, and discards a third', async () => {
    const { admin } = server()
    const visitGroup = async (text: RegExp): Promise<void> => {
      await tab.visit('/q/default/dead-letters')
      await tab.page.getByRole('link', { name: text }).click()
    }
    await visitGroup(/cannot read properties/)
    await hands.press(/^Escalate/)
    await hands.confirm(/^Escalate/, /escalated/, { reason: 'the invoice team knows this one' })
    await tab.page.getByText('ada: the invoice team knows this one').first().waitFor()
    const escalated = (await admin.deadLetters.list({ type: 'eng-backend', escalated: true })).tasks
    expect((await eventsOf('Escalated')).map(({ data }) => data['task']).sort()).toEqual(escalated.map(({ id }) => id).sort())
    expect(escalated.length).toBeGreaterThan(0)
    await admin.enqueue({ type: 'deploy', dependencies: [escalated[0]?.id ?? ''] })
    await visitGroup(/cannot read properties/)
    await tab.page.getByText('holds up 1 dependent', { exact: true }).waitFor()
    await visitGroup(/page did not settle/)
    await hands.press(/^Snooze/)
    await hands.confirm(/^Snooze/, /snoozed/, { reason: 'after the release', fields: { hours: '2' } })
    await tab.page.getByText(/goes back/).first().waitFor()
    const [snoozed] = await eventsOf('Snoozed')
    expect(snoozed?.data['reason']).toBe('after the release')
    expect(Math.abs(Number(snoozed?.data['until']) - Date.now() - 7_200_000)).toBeLessThan(600_000)
    await visitGroup(/upstream timed out/)
    await hands.press(/^Discard/)
    await hands.confirm(/^Discard \d+ tasks$/, /discarded/, { reason: 'imported by hand' })
    await tab.page.getByText('any more').waitFor()
    expect(await admin.deadLetters.patterns({ type: 'data-import' })).toEqual([])
    expect((await eventsOf('Discarded')).filter(({ data }) => data['reason'] === 'imported by hand').every(({ data }) => String(data['task']).startsWith('data-import'))).toBe(true)
    expectQuiet(tab.watched)
  })

  test('cancels all tasks that match a search: exactly those, after the count, with a reason', async () => {
    const mail = server().admin.in('mail')
    await tab.visit('/q/mail/tasks', 'digest-0')
    await tab.page.getByLabel('Search tasks').fill('type:mail-* digest-1')
    await tab.page.getByText('11 tasks', { exact: true }).or(tab.page.getByText('more than')).first().waitFor()
    await tab.page.waitForURL(/digest-1/)
    await tab.settled()
    await hands.press(/^Cancel …$/)
    await hands.dialog.getByText('11 tasks, all that match, will be cancelled').waitFor()
    // Without a reason nothing happens.
    await hands.dialog.getByRole('button', { name: 'Cancel 11 tasks' }).click()
    expect(await hands.dialog.locator('[name="reason"]').evaluate((field) => (field as HTMLInputElement).validity.valueMissing)).toBe(true)
    expect(await eventsOf('Cancelled', 'ada', 'mail')).toEqual([])
    await hands.confirm(/^Cancel 11 tasks$/, /11 tasks cancelled/, { reason: 'sent twice' })
    const cancelled = await eventsOf('Cancelled', 'ada', 'mail')
    expect(cancelled.map(({ data }) => data['task']).sort()).toEqual(Array.from({ length: 40 }, (_, n) => `digest-${n}`).filter((id) => id.includes('digest-1')).sort())
    expect(new Set(cancelled.map(({ data }) => data['reason']))).toEqual(new Set(['sent twice']))
    expect((await mail.depth()).byStatus).toMatchObject({ cancelled: 11, pending: 29 })
    expectQuiet(tab.watched)
  })

  test('changes the priority of the tasks that are selected, and of no others', async () => {
    await tab.visit('/q/mail/tasks?q=status:pending', 'digest-2')
    for (const id of ['digest-2', 'digest-20']) await tab.page.getByLabel(`select ${id}`, { exact: true }).check()
    await tab.page.getByText('2 selected:').waitFor()
    await hands.press(/^Priority …$/)
    await hands.confirm(/^Change 2 tasks$/, /2 tasks changed/, { reason: 'the press waits', fields: { priority: '9' } })
    const amended = await eventsOf('TaskAmended', 'ada', 'mail')
    expect(amended.map(({ data }) => data['task']).sort()).toEqual(['digest-2', 'digest-20'])
    expect((await server().admin.in('mail').tasks({ priority: 9 })).tasks.map(({ id }) => id).sort()).toEqual(['digest-2', 'digest-20'])
    expectQuiet(tab.watched)
  })

  test('cannot do anything to all that match while a part of the search is not understood', async () => {
    await tab.visit('/q/mail/tasks?q=colour:red', 'Select tasks, or mend the search')
    for (const name of ['Cancel …', 'Bump …', 'Priority …', 'Export …']) expect(await tab.page.getByRole('button', { name }).isDisabled(), name).toBe(true)
  })

  test('sees what tripped a breaker, and closes it; opens another', async () => {
    await tab.visit('/q/default/breakers', 'The failures before it')
    // Those that are dead letters still; others were sent back or discarded by the stories before.
    const { openedAt = '' } = (await server().admin.breakers.list())['ops-security'] ?? {}
    const { tasks } = await server().admin.deadLetters.list({ type: 'ops-security', limit: 200 })
    const before = tasks.filter(({ deadLetter }) => Date.parse(deadLetter?.at ?? '') <= Date.parse(openedAt))
    expect(before.length).toBeGreaterThan(0)
    const shown = await hands.about('ops-security').locator('.failures a').allTextContents()
    expect(shown).toHaveLength(Math.min(5, before.length))
    for (const id of shown) expect(before.map((task) => task.id)).toContain(id)
    await hands.about('ops-security').getByRole('button', { name: 'Close …' }).click()
    await hands.confirm(/^Close it$/, /is closed/, { reason: 'the scanner is up' })
    expect(await became('BreakerClosed')).toMatchObject({ actor: 'ada', data: { taskType: 'ops-security', cause: 'manual', reason: 'the scanner is up' } })
    await hands.press(/^Open for another type …$/)
    await hands.confirm(/^Open it$/, /breaker of eng-docs is open/, { reason: 'the wiki is down', fields: { type: 'eng-docs' } })
    expect(await became('BreakerOpened')).toMatchObject({ actor: 'ada', data: { taskType: 'eng-docs', cause: 'manual', reason: 'the wiki is down' } })
    expectQuiet(tab.watched)
  })

  test('terminates an agent that hangs: its task goes back to the queue', async () => {
    const { admin } = server()
    const held = (await admin.agents.list()).find(({ agentId }) => agentId === 'eng-1')?.tasks
    expect(held).toHaveLength(1)
    await tab.visit('/q/default/agents', 'eng-1')
    await hands.about('eng-1').getByRole('link').first().waitFor()
    await hands.about('eng-1').getByRole('button', { name: 'Terminate …' }).click()
    await hands.confirm(/^Terminate it$/, /eng-1 is terminated, and 1 task went back/, { reason: 'it hangs' })
    expect(await became('AgentTerminated')).toMatchObject({ actor: 'ada', data: { agent: 'eng-1', reason: 'it hangs' } })
    expect((await eventsOf('ClaimRevoked')).map(({ data }) => data['task'])).toEqual(held)
    expectQuiet(tab.watched)
  })

  test('gives a tenant more weight, pauses a schedule, changes a setting', async () => {
    const { admin } = server()
    await tab.visit('/q/default/tenants', 'initech')
    await hands.about('initech').getByRole('button').click()
    await hands.confirm(/^Change it$/, /initech has weight 4/, { fields: { weight: '4' } })
    expect(await became('QueueConfigured')).toMatchObject({ actor: 'ada', data: { patch: { assignment: { tenants: { initech: 4 } } } } })
    await tab.visit('/q/default/schedules', 'triage')
    await hands.about('triage').getByRole('button', { name: 'Pause …' }).click()
    await hands.confirm(/^Pause it$/, /triage is paused/)
    expect(await became('ScheduleSet')).toMatchObject({ actor: 'ada', data: { name: 'triage', paused: true } })
    await hands.about('triage').getByText('None while it is paused').waitFor()
    await tab.visit('/q/default/settings', 'capacity.maxConcurrentAgents')
    await hands.about('capacity.maxConcurrentAgents').getByRole('button').click()
    await hands.confirm(/^Change it$/, /capacity.maxConcurrentAgents is 15/, { fields: { value: '15' } })
    expect((await became('QueueConfigured')).data).toEqual({ patch: { capacity: { maxConcurrentAgents: 15 } } })
    const settings = await admin.settings.get()
    expect([settings.assignment.tenants['initech'], settings.assignment.tenants['globex'], settings.capacity.maxConcurrentAgents]).toEqual([4, 2, 15])
    expectQuiet(tab.watched)
  })

  test('as a guardian: approves one proposal, refuses the other', async () => {
    await tab.visit('/q/default/approvals', 'the session is not ended at logout')
    await hands.about('the session is not ended').getByRole('button', { name: 'Approve …' }).click()
    await hands.confirm(/^Approve it$/, /Approved: 1 task is in the queue/, { reason: 'do it' })
    await hands.about('one query for each row').getByRole('button', { name: 'Refuse …' }).click()
    await hands.confirm(/^Refuse it$/, /Refused/, { reason: 'not now' })
    await tab.page.getByText('Nothing waits for a guardian').waitFor()
    expect(await eventsOf('SpawnApproved')).toMatchObject([{ data: { reason: 'do it' } }])
    expect(await eventsOf('SpawnRefused')).toMatchObject([{ data: { reason: 'not now' } }])
    expectQuiet(tab.watched)
  })

  test('a refused command says why, and what was typed stays', async () => {
    await tab.visit('/q/default/settings', 'maxAttempts')
    await hands.about('maxAttempts').getByRole('button').click()
    const { dialog } = hands
    await dialog.locator('[name="field-value"]').fill('-3')
    await dialog.getByRole('button', { name: 'Change it' }).click()
    await dialog.getByRole('alert').waitFor()
    expect(await dialog.getByRole('alert').textContent()).toContain('invalid')
    expect(await dialog.locator('[name="field-value"]').inputValue()).toBe('-3')
    expectQuiet(tab.watched, [/status of 400/])
    await dialog.getByRole('button', { name: 'Leave it' }).click()
  })

  test('who may enqueue runs a schedule now, beside its plan; an operator is not offered that', async () => {
    await tab.visit('/q/default/schedules', 'nightly-backup')
    expect(await tab.page.getByRole('button', { name: 'Run now …' }).count()).toBe(0)
    const all = await openTab(browser, server().url, adminToken)
    const own = handsOf(all)
    await all.visit('/q/default/schedules', 'nightly-backup')
    const [due] = (await server().admin.schedules.get('nightly-backup')).next
    await own.about('nightly-backup').getByRole('button', { name: 'Run now …' }).click()
    await own.confirm(/^Run it now$/, /nightly-backup runs as nightly-backup@now-/)
    const event = await own.became('TaskEnqueued', server().admin)
    expect(event).toMatchObject({ actor: 'admin', data: { type: 'ops-backup' } })
    expect((await server().admin.schedules.get('nightly-backup')).next[0]).toBe(due)
    expectQuiet(all.watched)
  })
})
