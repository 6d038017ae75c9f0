/** Tests of the audit itself: it accepts an honest engine, and catches each kind of acknowledgement without an event. */
import type { QueueEngine } from '@daybook/adapters/engine'
import { type ClaimedTask, type Command, type CommandOf, type CommandType, commandCodecs, type Replies, type ScheduleView, type BatchView } from '@daybook/core'
import { beforeAll, describe, expect, test } from 'vitest'
import { answersMatchLog, type LogEntry, readLog, type Exchange } from './audit.js'
import { claim, complete, configure, enqueue, fail, heartbeat, logOf, ok, openQueue, task } from './queue.js'

/** Sends commands to an engine and records the answers. */
const recording = (engine: QueueEngine) => {
  const exchanges: Array<Exchange> = []
  const send = async <C extends Command>(command: C) => {
    const id = `c${exchanges.length}`
    const outcome = await engine.submit(command, { actor: 'tester', correlationId: id })
    exchanges.push({ id, command, outcome })
    return outcome
  }
  return { exchanges, send }
}

const review = { reviewer: 'rev', reason: 'looked at it' }
const imported = (id: string): CommandOf<'Import'> => ({ type: 'Import', tasks: [{ ...task(id), status: 'cancelled' }] })
const tick: Command = { type: 'Tick' }

let honest: ReadonlyArray<Exchange>
let log: ReadonlyArray<LogEntry>
let held: ClaimedTask

/** Commands of every type: those that append something, and those that correctly append nothing. */
beforeAll(async () => {
  const { engine, store } = await openQueue()
  const { exchanges, send } = recording(engine)
  await send(configure({ maxAttempts: 6 }))
  for (let i = 0; i < 2; i++) await send({ type: 'DeleteQueue', reason: 'a slip' })
  await send(configure({ maxAttempts: 6, defaults: { jitter: 0 } }))
  await send(configure({ maxAttempts: 6 }))
  await send(enqueue('a', 'b', 'c', 'd', task('e', { dependencies: ['d'] }), 'f', 'g', task('x', { maxRetries: 0 }), task('y', { maxRetries: 0 })))
  await send(enqueue(task('s', { type: 'spare' }), task('t', { type: 'other', dependencies: ['s'] })))
  for (let i = 0; i < 2; i++) await send({ type: 'CancelAll', filter: { type: 'spare' }, reason: 'not needed' })
  await send(enqueue('a', task('again', { idempotencyKey: 'b' })))
  await send(imported('old'))
  await send(imported('old'))
  const [a, b, c] = ok(await send(claim('ann', 3)))
  await send(heartbeat(a!))
  await send(complete(a!))
  await send(complete(a!))
  await send({ ...complete(b!), hasReport: false })
  await send(complete(b!))
  await send({ type: 'Release', ...held3(c!), reason: 'not mine' })
  const [again] = ok(await send(claim('bob')))
  await send({ type: 'Release', ...held3(again!), reason: 'the server stops', undelivered: true })
  const [last] = ok(await send(claim('bob')))
  await send({ type: 'Release', ...held3(last!), reason: 'the worker stops', stopping: true })
  const [parked] = ok(await send(claim('eve')))
  await send({ type: 'Park', ...held3(parked!), callbackKey: 'cb', timeoutSeconds: 60 })
  for (let i = 0; i < 2; i++) await send({ type: 'Callback', callbackKey: 'cb', content: '{}' })
  await send({ type: 'Cancel', task: 'd', reason: 'no' })
  await send({ type: 'Cancel', task: 'e', reason: 'no' })
  await send({ type: 'Cancel', task: 'old', reason: 'no' })
  await send({ type: 'Retry', ...review, filter: {} })
  await send({ type: 'Discard', ...review, filter: {} })
  const work = ok(await send(claim('cy', 9)))
  for (const each of work.filter(({ task: id }) => id === 'x' || id === 'y')) await send(fail(each, 'cy'))
  await send({ type: 'Snooze', ...review, filter: { type: 'none' }, until: 2_000_000_000_000 })
  await send({ type: 'Snooze', ...review, task: 'y', until: 2_000_000_000_000 })
  await send({ type: 'Escalate', ...review, filter: { type: 'none' } })
  await send({ type: 'Escalate', ...review, task: 'y' })
  await send({ type: 'Redrive', ...review, filter: { type: 'none' }, perMinute: 1 })
  await send({ type: 'StopRedrive', ...review })
  await send({ type: 'Retry', ...review, task: 'x' })
  await send({ type: 'Discard', ...review, filter: { type: 'work' } })
  await send({ type: 'OpenBreaker', taskType: 'work', reason: 'by hand' })
  await send({ type: 'CloseBreaker', taskType: 'work', reason: 'by hand' })
  await send({ type: 'CloseBreaker', taskType: 'work', reason: 'by hand' })
  for (let i = 0; i < 2; i++) await send({ type: 'CreateSchedule', name: 'nightly', cron: '0 2 * * *', task: { type: 'report' } })
  for (let i = 0; i < 2; i++) await send({ type: 'ChangeSchedule', name: 'nightly', paused: true })
  for (let i = 0; i < 2; i++) await send({ type: 'RemoveSchedule', name: 'nightly' })
  for (let i = 0; i < 2; i++) await send({ type: 'CreateBatch', id: 'b', open: true, tasks: [], callback: { type: 'report' } })
  for (let i = 0; i < 2; i++) await send({ type: 'CloseBatch', id: 'b' })
  await send({ type: 'Cancel', task: 'b.callback', reason: 'no' })
  await send({ type: 'CreateBatch', id: 'c', open: true, tasks: [] })
  for (let i = 0; i < 2; i++) await send({ type: 'CancelBatch', id: 'c', reason: 'no' })
  for (let i = 0; i < 2; i++) await send({ type: 'Restart', task: 'a', id: 'once-more', reason: 'again', content: '{}' })
  await send({ type: 'Cancel', task: 'once-more', reason: 'no' })
  await send(enqueue('bumped'))
  for (let i = 0; i < 2; i++) await send({ type: 'Bump', task: 'bumped', reason: 'now' })
  for (let i = 0; i < 2; i++) await send({ type: 'AmendTask', task: 'bumped', reason: 'more urgent', priority: 9 })
  await send({ type: 'Cancel', task: 'bumped', reason: 'no' })
  await send({ type: 'Erase', task: 'bumped', reason: 'asked for' })
  for (let i = 0; i < 2; i++) await send({ type: 'SetLimit', key: 'type:other', concurrency: 3, rate: { starts: 9, perSeconds: 1 } })
  await send({ type: 'RemoveLimit', key: 'type:other' })
  for (let i = 0; i < 2; i++) await send({ type: 'RegisterAgent', agent: 'cy', maxTasks: 20 })
  await send({ type: 'TerminateAgent', agent: 'cy', reason: 'gone' })
  await send({ type: 'TerminateAgent', agent: 'cy', reason: 'gone' })
  for (const type of ['Pause', 'Pause', 'Resume', 'Resume'] as const) await send({ type, reason: 'lunch' })
  await send({ type: 'Approve', approval: 'none', reason: 'yes' })
  await send({ type: 'Refuse', approval: 'none', reason: 'no' })
  await send(tick)
  const [mine] = ok(await send(claim('dot')))
  held = mine!
  honest = exchanges
  log = readLog(await logOf(store))
})
const held3 = ({ task: id, agent, token }: ClaimedTask) => ({ task: id, agent, token })

test('INV-16, INV-19: an honest engine passes with every type of command, also with those that correctly append nothing', () => {
  answersMatchLog(honest, log)
  const types = new Set(honest.map(({ command }) => command.type))
  expect([...types].sort()).toEqual(Object.keys(commandCodecs).sort())
  const silent = new Set(honest.filter(({ id, outcome }) => outcome._tag === 'Right' && !log.some(({ command }) => command === id)).map(({ command }) => command.type))
  expect([...silent].sort()).toEqual(['AmendTask', 'Bump', 'Callback', 'Cancel', 'CancelAll', 'CancelBatch', 'ChangeSchedule', 'CloseBatch', 'Complete', 'Configure', 'CreateBatch', 'CreateSchedule', 'DeleteQueue', 'Discard', 'Enqueue', 'Escalate', 'Import', 'Pause', 'RegisterAgent', 'Restart', 'Resume', 'Retry', 'SetLimit', 'Snooze', 'Tick'])
})

type Fake<T extends CommandType> = () => readonly [command: CommandOf<T>, value: Replies[T]]
const scheduled: ScheduleView = { name: 'hourly', every: 3_600, timeZone: 'UTC', missed: 'once', overlap: 'allow', paused: false, task: { type: 'report' }, next: [], last: [] }
const claimant = () => held3(held)
const unknownBatch = (id: string): BatchView => ({ id, state: 'closed', on: 'finished', createdAt: 0, tasks: 0, open: 0, completed: 0, cancelled: 0, discarded: 0, deadLetters: 0, approvals: 0, revision: 0, reasons: [] })

/** For each type of command, acknowledgements of commands that are not in the log. A new type without one does not compile. */
const fakes: { readonly [T in CommandType]: ReadonlyArray<Fake<T>> } = {
  Enqueue: [
    () => [enqueue('new'), [{ id: 'new', number: 99, status: 'pending', duplicate: false }]],
    () => [enqueue('new'), [{ id: 'new', number: 99, status: 'pending', duplicate: true }]],
    () => [enqueue('new'), [{ id: 'a', number: 1, status: 'pending', duplicate: true }]],
    () => [enqueue('new'), []],
  ],
  Import: [() => [imported('new'), [{ id: 'new', number: 99, status: 'cancelled', duplicate: true }]]],
  Claim: [() => [claim('eve'), [held]]],
  Heartbeat: [() => [heartbeat(claimant(), 'dot'), { token: held.token, expiresAt: held.expiresAt + 1_000 }]],
  Complete: [
    () => [complete(claimant(), 'dot'), { status: 'completed' }],
    // A completion by another agent does not count, nor another completion by the same agent.
    () => [complete({ task: 'a', token: 1 }, 'eve'), { status: 'completed' }],
    () => [complete({ task: 'a', token: 99 }, 'ann'), { status: 'completed' }],
  ],
  Fail: [() => [fail(claimant(), 'dot'), { status: 'pending' }]],
  Release: [() => [{ type: 'Release', ...claimant(), reason: 'not mine' }, { status: 'pending' }]],
  Park: [() => [{ type: 'Park', ...claimant(), callbackKey: 'x', timeoutSeconds: 60 }, { status: 'waiting' }]],
  Callback: [
    () => [{ type: 'Callback', callbackKey: 'x', content: '{}' }, { task: held.task, status: 'pending' }],
    // The callback came for another task.
    () => [{ type: 'Callback', callbackKey: 'cb', content: '{}' }, { task: 'a', status: 'pending' }],
  ],
  Cancel: [() => [{ type: 'Cancel', task: held.task, reason: 'no' }, { cancelled: [] }], () => [{ type: 'Cancel', task: held.task, reason: 'no' }, { cancelled: [held.task] }]],
  CancelAll: [
    () => [{ type: 'CancelAll', filter: {}, reason: 'no' }, { cancelled: [], next: undefined }],
    () => [{ type: 'CancelAll', filter: { type: 'work' }, reason: 'no' }, { cancelled: [held.task], next: undefined }],
  ],
  Retry: [() => [{ type: 'Retry', ...review, task: 'x' }, { retried: [] }], () => [{ type: 'Retry', ...review, filter: {} }, { retried: ['x'] }]],
  Discard: [() => [{ type: 'Discard', ...review, task: 'x' }, { discarded: [], cancelled: [] }], () => [{ type: 'Discard', ...review, filter: {} }, { discarded: ['y'], cancelled: [] }]],
  Approve: [() => [{ type: 'Approve', approval: 'none', reason: 'yes' }, { spawned: [], retried: [] }]],
  Refuse: [() => [{ type: 'Refuse', approval: 'none', reason: 'no' }, null]],
  Snooze: [() => [{ type: 'Snooze', ...review, task: 'x', until: 2_000_000_000_000 }, { snoozed: ['x'] }], () => [{ type: 'Snooze', ...review, filter: {}, until: 2_000_000_000_000 }, { snoozed: ['q'] }]],
  Escalate: [() => [{ type: 'Escalate', ...review, task: 'x' }, { escalated: ['x'] }]],
  Redrive: [() => [{ type: 'Redrive', ...review, filter: {}, perMinute: 9 }, ok(honest[0]!.outcome as never)]],
  StopRedrive: [() => [{ type: 'StopRedrive', ...review }, ok(honest[0]!.outcome as never)]],
  OpenBreaker: [() => [{ type: 'OpenBreaker', taskType: 'work', reason: 'by hand' }, null]],
  CloseBreaker: [() => [{ type: 'CloseBreaker', taskType: 'work', reason: 'by hand' }, null]],
  Restart: [() => [{ type: 'Restart', task: 'a', id: 'again-2', reason: 'r', content: '{}' }, { id: 'again-2', number: 99, restartOf: 'a', status: 'pending' }]],
  AmendTask: [
    () => [{ type: 'AmendTask', task: held.task, reason: 'r', priority: 1 }, { id: held.task, status: 'pending', changed: ['priority'] }],
    () => [{ type: 'AmendTask', task: held.task, reason: 'r', content: '{}' }, { id: held.task, status: 'pending', changed: [] }],
  ],
  Erase: [() => [{ type: 'Erase', task: 'a', reason: 'asked for' }, { id: 'a' }]],
  Bump: [() => [{ type: 'Bump', task: 'a', reason: 'now' }, { status: 'pending' }]],
  RegisterAgent: [() => [{ type: 'RegisterAgent', agent: 'dot' }, { agent: 'dot', endsAt: 1 }]],
  SetLimit: [() => [{ type: 'SetLimit', key: 'db', concurrency: 1 }, { key: 'db', concurrency: 1, live: 0 }]],
  RemoveLimit: [() => [{ type: 'RemoveLimit', key: 'db' }, null]],
  TerminateAgent: [() => [{ type: 'TerminateAgent', agent: 'dot', reason: 'gone' }, { tasks: [], remaining: 0 }]],
  Configure: [() => [configure({ maxAttempts: 7 }), ok(honest[0]!.outcome as never)]],
  CreateSchedule: [() => [{ type: 'CreateSchedule', name: 'hourly', every: 3_600, task: { type: 'report' } }, scheduled]],
  ChangeSchedule: [() => [{ type: 'ChangeSchedule', name: 'hourly', paused: true }, scheduled]],
  CreateBatch: [() => [{ type: 'CreateBatch', id: 'new', tasks: [] }, { batch: unknownBatch('new'), results: [] }]],
  CloseBatch: [() => [{ type: 'CloseBatch', id: 'new' }, unknownBatch('new')]],
  CancelBatch: [() => [{ type: 'CancelBatch', id: 'new', reason: 'no' }, { batch: unknownBatch('new'), cancelled: [] }]],
  RemoveSchedule: [() => [{ type: 'RemoveSchedule', name: 'hourly' }, null]],
  Pause: [() => [{ type: 'Pause', reason: 'lunch' }, null]],
  Resume: [],
  DeleteQueue: [() => [{ type: 'DeleteQueue', reason: 'a slip' }, null]],
  Tick: [],
}

describe('INV-19 has teeth: an acknowledged command that is not in the log is caught:', () => {
  const cases = Object.entries(fakes).flatMap(([type, list]) => (list as ReadonlyArray<Fake<CommandType>>).map((fake, i) => [`${type} (${i + 1})`, fake] as const))
  test.each(cases)('%s', (_, fake) => {
    const [command, value] = fake()
    const exchange: Exchange = { id: 'fake', command, outcome: { _tag: 'Right', right: { value, revision: log.length - 1 } } }
    expect(() => answersMatchLog([...honest, exchange], log)).toThrow(/^INV-19: it was acknowledged.*fake/)
  })

  test('Resume of a paused queue; Tick when something is due', async () => {
    let now = 1_700_000_000_000
    const { engine, store } = await openQueue({ clock: () => now })
    const { exchanges, send } = recording(engine)
    await send(enqueue(task('a', { timeout: 1 }), 'b'))
    await send(claim())
    await send({ type: 'Pause', reason: 'lunch' })
    const yes = (command: Command): Exchange => ({ id: 'fake', command, outcome: { _tag: 'Right', right: { value: null, revision: 3 } } })
    const paused = readLog((await logOf(store)).slice(0, 4))
    answersMatchLog(exchanges, paused)
    expect(() => answersMatchLog([...exchanges, yes({ type: 'Resume', reason: 'back' })], paused)).toThrow('INV-19: it was acknowledged')
    // The queue's time is after the end of the lease, but there is no event of it.
    now += 5_000
    const late = paused.map((entry) => (entry.recorded.revision === 3 ? { ...entry, event: { ...entry.event, at: now } } : entry))
    answersMatchLog(exchanges, late)
    expect(() => answersMatchLog([...exchanges, yes(tick)], late)).toThrow('INV-19: it was acknowledged')
    await engine.close()
  })

  test('every type of command has a fake', () => {
    const faked = Object.entries(fakes).filter(([, list]) => list.length > 0).map(([type]) => type)
    expect([...faked, 'Resume', 'Tick'].sort()).toEqual(Object.keys(commandCodecs).sort())
  })
})

describe('what the audit excuses', () => {
  const refused = (code: string): Exchange => ({ ...honest.find(({ command }) => command.type === 'Claim')!, outcome: { _tag: 'Left', left: { code: code as never, detail: 'the log cannot be read, look whether it is in the log or it is not', retryAfterSeconds: 1 } } })

  test('a command with an unknown outcome, by its code and not by its text', () => {
    answersMatchLog([refused('outcome-unknown')], log)
    expect(() => answersMatchLog([refused('overloaded')], log)).toThrow('INV-16: it was refused, and happened')
    // Its tasks were worked on, so the claim was not taken back.
    expect(() => answersMatchLog([refused('unavailable')], log)).toThrow('INV-16: it was refused, and happened')
    const enqueued = { ...honest.find(({ command }) => command.type === 'Enqueue')!, outcome: refused('unavailable').outcome }
    expect(() => answersMatchLog([enqueued], log)).toThrow('INV-16: it was refused, and happened')
  })
})
