/** Findings of a completion become tasks within the completing command. Chains of fixes that go in circles are halted. */
import { approvalContextOf, approvalsMax, approvalsOf, explainOf, fork, mark, rollback, taskOf, type CommandOf, type Findings } from '@daybook/core'
import { expect, test } from 'vitest'
import { contentsOf, sizesOf } from '../support/states/index.js'
import { names, Queue, task } from './queue.js'

const finding = (kind: string, more: Partial<Findings['discoveries'][number]> = {}): Findings['discoveries'][number] => ({ kind, content: `{"payload":"${kind}"}`, ...more })
const found = (...discoveries: Findings['discoveries']): Findings => ({ discoveries, left: 0 })
const invalid = (error = 'two tests fail', ...discoveries: Findings['discoveries']): Findings => ({
  discoveries, left: 0, validation: { error, fix: '{"payload":"fix"}', check: '{"payload":"check"}' },
})
const parent = () => task('p', { type: 'eng', phase: 'VALIDATION', ticketId: 'T-1', tenant: 'acme', skills: ['go'], timeout: 90, maxRetries: 2, backoffSeconds: 0 })
const everyone = { skills: ['go'] }

/** Completes the next task that is claimed, with these findings. */
const finish = (q: Queue, findings?: Findings) => {
  const { ids: [id = ''], token } = q.claim('ann', everyone)
  const command: CommandOf<'Complete'> = { type: 'Complete', task: id, agent: 'ann', token, content: '{}', hasReport: true, ...(findings === undefined ? {} : { found: findings }) }
  const before = q.log.length
  return { id, command, reply: q.ask(command), events: q.log.slice(before) }
}
/** One round: the fix is done, and the re-check finds the same again. */
const round = (q: Queue, error?: string) => {
  finish(q)
  return finish(q, invalid(error))
}

test('TQM-BR-001, TQM-BR-002: the three kinds of discovery become tasks, within the completing command', () => {
  const q = new Queue().enqueue(parent())
  const { reply, events } = finish(q, found(finding('security_issue'), finding('requires_clarification', { priority: 8 }), finding('optimization_opportunity')))
  expect(names(events)).toEqual(['TaskEnqueued', 'TaskEnqueued', 'TaskEnqueued', 'Completed'])
  expect(reply).toMatchObject({ status: 'completed', approvals: [], left: 0 })
  const common = { type: 'eng', ticketId: 'T-1', tenant: 'acme', parentTaskId: 'p', timeout: 90, maxRetries: 2, status: 'pending', skills: [] }
  expect(reply.spawned?.map((id) => q.task(id))).toMatchObject([
    { ...common, discovery: 'security_issue', priority: 10, phase: 'ANALYSIS' },
    { ...common, discovery: 'requires_clarification', priority: 8, phase: 'REQUIREMENTS' },
    { ...common, discovery: 'optimization_opportunity', priority: 5, phase: 'ANALYSIS' },
  ])
  expect(events.slice(0, 3).map(({ content }) => content)).toEqual(['{"payload":"security_issue"}', '{"payload":"requires_clarification"}', '{"payload":"optimization_opportunity"}'])
})

test('TQM-BR-001: kinds are configuration; others are only kept in the result, and counted', () => {
  const q = new Queue()
    .configure({ discoveries: { flaky_test: { type: 'qa', phase: 'TESTING', priority: 'LOW', skills: ['vitest'] }, security_issue: null } })
    .enqueue(parent())
  const { reply } = finish(q, { ...found(finding('Flaky Test'), finding('security_issue'), finding('rumour')), left: 2 })
  expect(reply.left).toBe(4)
  expect(reply.spawned?.map((id) => q.task(id))).toMatchObject([{ type: 'qa', phase: 'TESTING', priority: 3, skills: ['vitest'], discovery: 'flaky_test' }])
  const many = new Queue().configure({ loops: { maxSpawned: 2 } }).enqueue(parent())
  expect(finish(many, found(...Array.from({ length: 5 }, () => finding('security_issue')))).reply).toMatchObject({ spawned: { length: 2 }, left: 3 })
})

test('TQM-BR-001: a repeated report spawns nothing twice, and has the same answer', () => {
  const q = new Queue().enqueue(parent())
  const { reply, command } = finish(q, invalid('x', finding('security_issue'), finding('security_issue', { ticketId: 'T-2' })))
  expect(q.do(command)).toEqual([])
  expect(q.ask(command)).toEqual(reply)
  expect(reply).toMatchObject({ spawned: { length: 3 }, approvals: { length: 1 } })
  const refused = new Queue().enqueue(parent())
  const { token } = refused.claim('ann', everyone)
  expect(refused.refuse({ ...command, token: token + 1 }).code).toBe('lease-lost')
  expect(refused.log.filter(({ type }) => type === 'TaskEnqueued')).toHaveLength(1)
})

test('LK-02: without the required report nothing is spawned; with the report it is', () => {
  const q = new Queue().enqueue(parent())
  const { token } = q.claim('ann', everyone)
  const command: CommandOf<'Complete'> = { type: 'Complete', task: 'p', agent: 'ann', token, content: '{}', hasReport: false, found: found(finding('security_issue')) }
  expect(names(q.do(command))).toEqual(['MarkedIncomplete'])
  expect(names(q.do({ ...command, hasReport: true }))).toEqual(['TaskEnqueued', 'Completed'])
})

test('TQM-BR-003: a discovery about the same ticket inherits it; about another one it waits for a guardian', () => {
  const q = new Queue().enqueue(parent())
  const { reply, events } = finish(q, found(finding('security_issue', { ticketId: 'T-1' }), finding('security_issue', { ticketId: 'T-2', priority: 3 })))
  expect(names(events)).toEqual(['TaskEnqueued', 'SpawnProposed', 'Completed'])
  const [id = ''] = reply.approvals ?? []
  expect(approvalsOf(q.state)).toMatchObject([{ id, kind: 'spawn', cause: 'other-ticket', parent: 'p', root: 'p', tasks: [{ ticketId: 'T-2', discovery: 'security_issue' }] }])
  expect(explainOf(q.state, 'p', q.at)?.reasons[0]?.message).toContain(id)
  const [planned] = approvalsOf(q.state)[0]?.tasks ?? []
  expect(taskOf(q.state, planned?.task ?? '')).toBeUndefined()
  expect(q.refuse({ type: 'Approve', approval: id, reason: 'yes' })).toMatchObject({ code: 'conflict' })
  const answer = q.ask({ type: 'Approve', approval: id, reason: 'yes', contents: ['{"payload":7}'] })
  expect(answer).toEqual({ spawned: [planned?.task], retried: [] })
  expect(q.task(planned?.task ?? '')).toMatchObject({ ticketId: 'T-2', parentTaskId: 'p', priority: 10 })
  expect(names(q.log.slice(-2))).toEqual(['SpawnApproved', 'TaskEnqueued'])
  expect(q.log.at(-1)?.content).toBe('{"payload":7}')
  expect(q.refuse({ type: 'Approve', approval: id, reason: 'again' }).code).toBe('not-found')
})

test('TQM-BR-003: refused, nothing is enqueued', () => {
  const q = new Queue().enqueue(parent())
  const [id = ''] = finish(q, found(finding('security_issue', { ticketId: 'T-2' }))).reply.approvals ?? []
  expect(names(q.do({ type: 'Refuse', approval: id, reason: 'no' }))).toEqual(['SpawnRefused'])
  expect(approvalsOf(q.state)).toEqual([])
  expect(sizesOf(q.state)).toMatchObject({ chains: 0, approvals: 0 })
})

test('a long chain of discoveries needs approval', () => {
  const q = new Queue().configure({ loops: { maxGenerations: 2 } }).enqueue(parent())
  for (let i = 0; i < 2; i++) expect(finish(q, found(finding('security_issue'))).reply.spawned).toHaveLength(1)
  const { reply } = finish(q, found(finding('security_issue')))
  expect(reply.spawned).toEqual([])
  expect(approvalsOf(q.state)).toMatchObject([{ cause: 'too-many-generations', root: 'p' }])
})

test('TQM-VF-001: a failed validation makes a HIGH fix and a re-check that waits for it, in the same append', () => {
  const q = new Queue().enqueue(parent())
  const { reply, events } = finish(q, invalid())
  expect(names(events)).toEqual(['ValidationFailed', 'TaskEnqueued', 'TaskEnqueued', 'Completed'])
  const [fix = '', check = ''] = reply.spawned ?? []
  const common = { type: 'eng', priority: 8, ticketId: 'T-1', tenant: 'acme', parentTaskId: 'p', skills: ['go'], discovery: 'validation_failed' }
  expect(q.task(fix)).toMatchObject({ ...common, phase: 'IMPLEMENTATION', status: 'pending' })
  expect(q.task(check)).toMatchObject({ ...common, phase: 'VALIDATION', status: 'blocked', dependencies: [fix] })
  expect(q.status('p')).toBe('completed')
  expect(finish(q).id).toBe(fix)
  expect(finish(q).id).toBe(check)
  expect(q.log.filter(({ type }) => type === 'TaskEnqueued')).toHaveLength(3)
})

test('TQM-VF-003: the same failure three times halts the loop, until a guardian releases it', () => {
  const q = new Queue().enqueue(parent())
  finish(q, invalid('expected 3, got 4'))
  expect(round(q, 'expected 3, got 17').reply.spawned).toHaveLength(2)
  const { reply, events, id } = round(q, 'expected 3, got 5')
  expect(names(events)).toEqual(['ValidationFailed', 'LoopHalted', 'Completed'])
  expect(reply).toMatchObject({ spawned: [], approvals: { length: 1 } })
  const [approval] = approvalsOf(q.state)
  expect(approval).toMatchObject({ kind: 'loop', cause: 'signature-repeated', parent: id, root: 'p', rounds: 3, error: 'expected 3, got 5', tasks: { length: 2 } })
  const context = approvalContextOf(q.state, approval?.id ?? '')
  expect(context?.chain.map((each) => each.id)).toHaveLength(5)
  expect(Object.values(context?.signatures ?? {})).toEqual([3])
  expect(q.claim('ann', everyone).ids).toEqual([])
  const { spawned } = q.ask({ type: 'Approve', approval: approval?.id ?? '', reason: 'the test was wrong', contents: ['{}', '{}'] })
  expect(spawned).toHaveLength(2)
  expect(q.log.at(-3)).toMatchObject({ type: 'GuardianReleased', data: { root: 'p' } })
  // Counted from zero again: two more rounds before the next halt.
  expect(round(q).reply.spawned).toHaveLength(2)
  expect(round(q).reply.spawned).toHaveLength(2)
  expect(round(q).reply.approvals).toHaveLength(1)
})

test('TQM-VF-003: the first failure counts with those of the re-checks, whatever the phase of the first task; other failures count apart', () => {
  const q = new Queue().enqueue({ ...parent(), phase: 'IMPLEMENTATION' })
  finish(q, invalid('a'))
  round(q, 'b')
  round(q, 'a')
  expect(approvalsOf(q.state)).toEqual([])
  expect(round(q, 'a').reply.approvals).toHaveLength(1)
  const once = new Queue().configure({ loops: { repeatSignatureLimit: 1 } }).enqueue(parent())
  expect(finish(once, invalid()).reply).toMatchObject({ spawned: [], approvals: { length: 1 } })
})

test('TQM-VF-002: the budget of rounds is used up by failures that are never the same', () => {
  const q = new Queue().configure({ loops: { maxRounds: 3 } }).enqueue(parent())
  finish(q, invalid('a'))
  for (const error of ['b', 'c']) expect(round(q, error).reply.spawned).toHaveLength(2)
  round(q, 'd')
  expect(approvalsOf(q.state)).toMatchObject([{ kind: 'loop', cause: 'rounds-exhausted', rounds: 4, error: 'd' }])
  q.do({ type: 'Approve', approval: approvalsOf(q.state)[0]?.id ?? '', reason: 'go on', contents: ['{}', '{}'] })
  for (const error of ['e', 'f', 'g']) expect(round(q, error).reply.spawned).toHaveLength(2)
  round(q, 'h')
  const [{ id = '' } = {}] = approvalsOf(q.state)
  expect(names(q.do({ type: 'Refuse', approval: id, reason: 'give up' }))).toEqual(['SpawnRefused'])
  expect(q.claim('ann', everyone).ids).toEqual([])
})

test('TQM-VF-002: a task of the chain that is given up escalates; approved, it is sent back', () => {
  const q = new Queue().enqueue(parent())
  const { reply: { spawned: [fix = ''] = [] } } = finish(q, invalid())
  for (let i = 0; i < 2; i++) q.fail(fix, q.claim('ann', everyone).token)
  expect(q.status(fix)).toBe('dead-letter')
  expect(approvalsOf(q.state)).toMatchObject([{ kind: 'dead-letter', cause: 'retries-exhausted', parent: fix, root: 'p', error: 'boom', tasks: [] }])
  const [{ id = '' } = {}] = approvalsOf(q.state)
  expect(explainOf(q.state, fix, q.at)?.reasons[0]?.message).toContain(id)
  expect(q.ask({ type: 'Approve', approval: id, reason: 'try again' })).toEqual({ spawned: [], retried: [fix] })
  expect(q.status(fix)).toBe('pending')
  // A dead letter that was reviewed otherwise no longer needs a guardian.
  q.fail(fix, q.claim('ann', everyone).token, false)
  expect(approvalsOf(q.state)).toHaveLength(1)
  q.do({ type: 'Discard', task: fix, reviewer: 'rev', reason: 'no' })
  expect(approvalsOf(q.state)).toEqual([])
  const plain = new Queue().enqueue(task('x', { maxRetries: 1 }))
  plain.fail('x', plain.claim().token)
  expect(approvalsOf(plain.state)).toEqual([])
})

test('INV-22: a chain leaves the state with its last task, and no round is lost before', () => {
  const q = new Queue().configure({ retentionSeconds: 0 }).enqueue(parent())
  finish(q, invalid())
  round(q)
  round(q)
  expect(approvalsOf(q.state)).toMatchObject([{ cause: 'signature-repeated', rounds: 3 }])
  q.do({ type: 'Refuse', approval: approvalsOf(q.state)[0]?.id ?? '', reason: 'no' })
  q.wait(1)
  q.enqueue(task('other'))
  expect(sizesOf(q.state)).toMatchObject({ chains: 0, approvals: 0, entries: { byRoot: 0 } })
})

test('INV-22: no more than a thousand wait; the rest stays in the results', () => {
  const q = new Queue().configure({ loops: { maxSpawned: 1_000 } }).enqueue(parent(), { ...parent(), id: 'p2', idempotencyKey: 'p2' }, { ...parent(), id: 'p3', idempotencyKey: 'p3' })
  const elsewhere = finding('security_issue', { ticketId: 'T-2' })
  expect(finish(q, found(...Array.from({ length: approvalsMax - 1 }, () => elsewhere))).reply.left).toBe(0)
  expect(finish(q, found(elsewhere, elsewhere)).reply).toMatchObject({ approvals: { length: 1 }, left: 1 })
  q.configure({ loops: { repeatSignatureLimit: 1 } })
  expect(names(finish(q, invalid()).events)).toEqual(['Completed'])
  expect(sizesOf(q.state).approvals).toBe(approvalsMax)
})

test('INV-15: a rollback and a snapshot keep rounds and approvals', () => {
  const q = new Queue().enqueue(parent())
  finish(q, invalid('a', finding('security_issue', { ticketId: 'T-2' })))
  expect(contentsOf(fork(q.state))).toEqual(contentsOf(q.state))
  const before = contentsOf(q.state)
  const point = mark(q.state)
  const { id = '' } = approvalsOf(q.state)[0] ?? {}
  q.do({ type: 'Approve', approval: id, reason: 'yes', contents: ['{}'] })
  finish(q)
  round(q, 'a')
  q.state = rollback(q.state, point)
  expect(contentsOf(q.state)).toEqual(before)
})
