/** The audit itself: it takes what an honest engine says, and each kind of acknowledgement that has no event behind it is caught. */
import type { QueueEngine } from '@daybook/adapters/engine'
import { type ClaimedTask, type Command, type CommandOf, type CommandType, commandCodecs, type Replies } from '@daybook/core'
import { beforeAll, describe, expect, test } from 'vitest'
import { answersMatchLog, type LogEntry, readLog, type Told } from './audit.js'
import { claim, complete, configure, enqueue, fail, heartbeat, logOf, ok, openQueue, task } from './queue.js'

/** An engine whose every answer is written down. */
const scribe = (engine: QueueEngine) => {
  const told: Array<Told> = []
  const send = async <C extends Command>(command: C) => {
    const id = `c${told.length}`
    const outcome = await engine.submit(command, { actor: 'tester', correlationId: id })
    told.push({ id, command, outcome })
    return outcome
  }
  return { told, send }
}

const review = { reviewer: 'rev', reason: 'looked at it' }
const imported = (id: string): CommandOf<'Import'> => ({ type: 'Import', tasks: [{ ...task(id), status: 'cancelled' }] })
const tick: Command = { type: 'Tick' }

let honest: ReadonlyArray<Told>
let log: ReadonlyArray<LogEntry>
let held: ClaimedTask

/** Commands of every type, each that appends something and each that rightly does not. */
beforeAll(async () => {
  const { engine, store } = await openQueue()
  const { told, send } = scribe(engine)
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
  await send({ type: 'Cancel', task: 'd', reason: 'no' })
  await send({ type: 'Cancel', task: 'e', reason: 'no' })
  await send({ type: 'Cancel', task: 'old', reason: 'no' })
  await send({ type: 'Retry', ...review, filter: {} })
  await send({ type: 'Discard', ...review, filter: {} })
  const work = ok(await send(claim('cy', 9)))
  for (const each of work.filter(({ task: id }) => id === 'x' || id === 'y')) await send(fail(each, 'cy'))
  await send({ type: 'Retry', ...review, task: 'x' })
  await send({ type: 'Discard', ...review, filter: { type: 'work' } })
  await send({ type: 'OpenBreaker', taskType: 'work', reason: 'by hand' })
  await send({ type: 'CloseBreaker', taskType: 'work', reason: 'by hand' })
  await send({ type: 'CloseBreaker', taskType: 'work', reason: 'by hand' })
  await send({ type: 'TerminateAgent', agent: 'cy', reason: 'gone' })
  await send({ type: 'TerminateAgent', agent: 'cy', reason: 'gone' })
  for (const type of ['Pause', 'Pause', 'Resume', 'Resume'] as const) await send({ type, reason: 'lunch' })
  await send(tick)
  const [mine] = ok(await send(claim('dot')))
  held = mine!
  honest = told
  log = readLog(await logOf(store))
})
const held3 = ({ task: id, agent, token }: ClaimedTask) => ({ task: id, agent, token })

test('INV-16, INV-19: an honest engine passes, with every type of command, and with those that rightly append nothing', () => {
  answersMatchLog(honest, log)
  const types = new Set(honest.map(({ command }) => command.type))
  expect([...types].sort()).toEqual(Object.keys(commandCodecs).sort())
  const silent = new Set(honest.filter(({ id, outcome }) => outcome._tag === 'Right' && !log.some(({ command }) => command === id)).map(({ command }) => command.type))
  expect([...silent].sort()).toEqual(['Cancel', 'CancelAll', 'Complete', 'Configure', 'DeleteQueue', 'Discard', 'Enqueue', 'Import', 'Pause', 'Resume', 'Retry', 'Tick'])
})

type Fake<T extends CommandType> = () => readonly [command: CommandOf<T>, value: Replies[T]]
const claimant = () => held3(held)

/** For each type of command, yes said to one that the log knows nothing of. A new type needs one to compile. */
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
    // Another's completion of it does not count, nor another by the same agent.
    () => [complete({ task: 'a', token: 1 }, 'eve'), { status: 'completed' }],
    () => [complete({ task: 'a', token: 99 }, 'ann'), { status: 'completed' }],
  ],
  Fail: [() => [fail(claimant(), 'dot'), { status: 'pending' }]],
  Release: [() => [{ type: 'Release', ...claimant(), reason: 'not mine' }, { status: 'pending' }]],
  Cancel: [() => [{ type: 'Cancel', task: held.task, reason: 'no' }, { cancelled: [] }], () => [{ type: 'Cancel', task: held.task, reason: 'no' }, { cancelled: [held.task] }]],
  CancelAll: [
    () => [{ type: 'CancelAll', filter: {}, reason: 'no' }, { cancelled: [], next: undefined }],
    () => [{ type: 'CancelAll', filter: { type: 'work' }, reason: 'no' }, { cancelled: [held.task], next: undefined }],
  ],
  Retry: [() => [{ type: 'Retry', ...review, task: 'x' }, { retried: [] }], () => [{ type: 'Retry', ...review, filter: {} }, { retried: ['x'] }]],
  Discard: [() => [{ type: 'Discard', ...review, task: 'x' }, { discarded: [], cancelled: [] }], () => [{ type: 'Discard', ...review, filter: {} }, { discarded: ['y'], cancelled: [] }]],
  OpenBreaker: [() => [{ type: 'OpenBreaker', taskType: 'work', reason: 'by hand' }, null]],
  CloseBreaker: [() => [{ type: 'CloseBreaker', taskType: 'work', reason: 'by hand' }, null]],
  TerminateAgent: [() => [{ type: 'TerminateAgent', agent: 'dot', reason: 'gone' }, { tasks: [], remaining: 0 }]],
  Configure: [() => [configure({ maxAttempts: 7 }), ok(honest[0]!.outcome as never)]],
  Pause: [() => [{ type: 'Pause', reason: 'lunch' }, null]],
  Resume: [],
  DeleteQueue: [() => [{ type: 'DeleteQueue', reason: 'a slip' }, null]],
  Tick: [],
}

describe('INV-19 has teeth: yes said to a command that the log knows nothing of is caught:', () => {
  const cases = Object.entries(fakes).flatMap(([type, list]) => (list as ReadonlyArray<Fake<CommandType>>).map((fake, i) => [`${type} (${i + 1})`, fake] as const))
  test.each(cases)('%s', (_, fake) => {
    const [command, value] = fake()
    const told: Told = { id: 'fake', command, outcome: { _tag: 'Right', right: { value, revision: log.length - 1 } } }
    expect(() => answersMatchLog([...honest, told], log)).toThrow(/^INV-19: it was acknowledged.*fake/)
  })

  test('Resume of a queue that is paused, Tick when something is due', async () => {
    const { engine, store } = await openQueue({ clock: () => now })
    let now = 1_700_000_000_000
    const { told, send } = scribe(engine)
    await send(enqueue(task('a', { timeout: 1 }), 'b'))
    await send(claim())
    await send({ type: 'Pause', reason: 'lunch' })
    const yes = (command: Command): Told => ({ id: 'fake', command, outcome: { _tag: 'Right', right: { value: null, revision: 3 } } })
    const paused = readLog((await logOf(store)).slice(0, 4))
    answersMatchLog(told, paused)
    expect(() => answersMatchLog([...told, yes({ type: 'Resume', reason: 'back' })], paused)).toThrow('INV-19: it was acknowledged')
    // The queue's own time is beyond the end of the lease, and nobody has said so.
    now += 5_000
    const late = paused.map((entry) => (entry.recorded.revision === 3 ? { ...entry, event: { ...entry.event, at: now } } : entry))
    answersMatchLog(told, late)
    expect(() => answersMatchLog([...told, yes(tick)], late)).toThrow('INV-19: it was acknowledged')
    await engine.close()
  })

  test('every type of command is faked', () => {
    const faked = Object.entries(fakes).filter(([, list]) => list.length > 0).map(([type]) => type)
    expect([...faked, 'Resume', 'Tick'].sort()).toEqual(Object.keys(commandCodecs).sort())
  })
})

describe('what the audit excuses', () => {
  const refused = (code: string): Told => ({ ...honest.find(({ command }) => command.type === 'Claim')!, outcome: { _tag: 'Left', left: { code: code as never, detail: 'the log cannot be read, look whether it is in the log or it is not', retryAfterSeconds: 1 } } })

  test('a command whose outcome is unknown by its code, and none by its words', () => {
    answersMatchLog([refused('outcome-unknown')], log)
    expect(() => answersMatchLog([refused('overloaded')], log)).toThrow('INV-16: it was refused, and happened')
    // Its tasks were worked on: it was not taken back.
    expect(() => answersMatchLog([refused('unavailable')], log)).toThrow('INV-16: it was refused, and happened')
    const enqueued = { ...honest.find(({ command }) => command.type === 'Enqueue')!, outcome: refused('unavailable').outcome }
    expect(() => answersMatchLog([enqueued], log)).toThrow('INV-16: it was refused, and happened')
  })
})
