/** The point of this file: a type of tasks is declared once, and holds for the producer, the worker and whoever waits for the result, to the compiler and at run time. */
import { openEmbedded } from '@daybook/adapters/embedded'
import { engineSource } from '@daybook/adapters/worker'
import { type DaybookClient, type EnqueuedTask, type Json, taskType } from '@daybook/client'
import { createWorker, handlerOf, httpSource, InvalidPayload, type TypedHandler, type WorkerEvent } from '@daybook/client/worker'
import { createTestQueue } from '@daybook/testing'
import { type } from 'arktype'
import * as E from 'fp-ts/lib/Either.js'
import * as t from 'io-ts'
import * as v from 'valibot'
import { afterAll, afterEach, beforeAll, describe, expect, expectTypeOf, test } from 'vitest'
import * as z from 'zod'
import { inTime } from '../support/in-time.js'
import { until } from '../support/queue.js'
import { type RealQueue, startRealQueue } from '../worker/real-queue.js'

let queue: RealQueue
let serial = 0
const opened: Array<() => unknown> = []
beforeAll(async () => {
  queue = await startRealQueue()
})
afterAll(() => queue.stop())
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})
const fresh = async (): Promise<DaybookClient> => {
  const own = queue.client.in(`typed-${serial++}`)
  await own.settings.patch({ decisionReport: 'optional', defaults: { backoffSeconds: 0, maxRetries: 2 } })
  return own
}
const work = (client: DaybookClient, ...handlers: ReadonlyArray<TypedHandler>): Array<WorkerEvent> => {
  const events: Array<WorkerEvent> = []
  const worker = createWorker({ source: httpSource(client), handlers, onEvent: (event) => void events.push(event) })
  worker.start()
  opened.push(() => worker.stop({ graceMs: 0 }))
  return events
}
const errorOf = async (promise: Promise<unknown>): Promise<unknown> => inTime('a rejection', promise.then(() => 'no error', (error: unknown) => error))

/** A time is text in the queue, and a `Date` for programs. */
const Time = new t.Type<Date, string>(
  'time',
  (value): value is Date => value instanceof Date,
  (value, context) => E.chain((text: string): t.Validation<Date> => (Number.isNaN(Date.parse(text)) ? t.failure(text, context, 'must be a time') : t.success(new Date(text))))(t.string.validate(value, context)),
  (date) => date.toISOString(),
)

const invoice = taskType('invoice', {
  payload: t.type({ customer: t.string, due: Time, lines: t.array(t.type({ cents: t.number })) }),
  result: t.type({ total: t.number }),
})
const mail = taskType('mail', {
  payload: z.object({ to: z.string(), copies: z.number().default(1), at: z.string().transform((text) => new Date(text)) }),
  result: z.object({ sent: z.string().transform((text) => new Date(text)) }),
})
const due = new Date('2026-03-01T12:00:00.000Z')
const full = { customer: 'ada', due, lines: [{ cents: 1 }, { cents: 2 }] }

describe('the compiler', () => {
  test('knows what a producer gives: the value of a codec, the input of a validator', () => {
    const check = async (client: DaybookClient): Promise<void> => {
      await client.enqueue(invoice, full, { priority: 'HIGH' })
      await client.enqueue(mail, { to: 'ada@example.org', at: due.toISOString() })
      await client.enqueueAll([invoice.task(full), mail.task({ to: 'ada@example.org', at: '', copies: 2 }), { type: 'other', payload: 1 }])
      // @ts-expect-error: no customer
      await client.enqueue(invoice, { due, lines: [] })
      // @ts-expect-error: the codec takes a Date, and encodes it
      await client.enqueue(invoice, { ...full, due: due.toISOString() })
      // @ts-expect-error: a number is no address
      await client.enqueue(mail, { to: 7, at: '' })
      // @ts-expect-error: there is no such field
      await client.enqueue(invoice, full, { prioritty: 'HIGH' })
      // @ts-expect-error: the type is given by the declaration
      await client.enqueue(invoice, full, { type: 'mail' })
      // @ts-expect-error: no customer
      invoice.task({ due, lines: [] })
      // @ts-expect-error: a type without a payload
      await client.enqueue(invoice)
    }
    expect(check).toBeTypeOf('function')
  })

  test('knows what a handler gets and returns', () => {
    handlerOf(invoice, ({ payload, attempt }) => {
      expectTypeOf(payload).toEqualTypeOf<{ customer: string; due: Date; lines: Array<{ cents: number }> }>()
      expectTypeOf(attempt).toBeNumber()
      return { output: { total: payload.lines.length } }
    })
    handlerOf(mail, async ({ payload }) => {
      expectTypeOf(payload).toEqualTypeOf<{ to: string; copies: number; at: Date }>()
      return { output: { sent: payload.at.toISOString() }, decisionReport: 'as asked' }
    })
    handlerOf(invoice, () => ({ success: false, errors: ['no'] }))
    handlerOf(taskType('ping', { payload: z.null() }), () => undefined)
    // @ts-expect-error: no total
    handlerOf(invoice, () => ({ output: {} }))
    // @ts-expect-error: no output
    handlerOf(invoice, () => undefined)
    // @ts-expect-error: the queue has text
    handlerOf(mail, () => ({ output: { sent: due } }))
  })

  test('knows the result that one waits for', () => {
    const check = async (client: DaybookClient): Promise<void> => {
      expectTypeOf(await client.enqueue(invoice, full)).toEqualTypeOf<EnqueuedTask<{ total: number }>>()
      expectTypeOf((await (await client.enqueue(mail, { to: '', at: '' })).result()).output).toEqualTypeOf<{ sent: Date }>()
      expectTypeOf((await client.handle('a', mail).result()).output).toEqualTypeOf<{ sent: Date }>()
      expectTypeOf((await client.enqueueAll([invoice.task(full)])).results[0]).toEqualTypeOf<EnqueuedTask<{ total: number }> | undefined>()
      const [each] = (await client.enqueueAll([mail.task({ to: '', at: '' })], { atomic: false })).results
      if (each?.ok === true) expectTypeOf((await each.value.result()).output).toEqualTypeOf<{ sent: Date }>()
      expectTypeOf((await (await client.enqueue({ type: 'x' })).result()).output).toEqualTypeOf<Json | undefined>()
      expectTypeOf((await client.enqueueAll([{ type: 'x' }])).results[0]).toEqualTypeOf<EnqueuedTask | undefined>()
    }
    expect(check).toBeTypeOf('function')
  })
})

test('what is optional may be given as undefined, to the compiler under exactOptionalPropertyTypes and at run time', async () => {
  const client = await fresh()
  const [unknown, none]: [number | undefined, ReadonlyArray<string> | undefined] = [undefined, undefined]
  expect((await client.limits.set('k', { concurrency: 3, rate: undefined })).concurrency).toBe(3)
  const { capacity, policy } = await client.settings.patch({ policy: undefined, capacity: { maxConcurrentAgents: unknown, overcapLimit: 2 } })
  expect([policy, capacity.maxConcurrentAgents, capacity.overcapLimit]).toEqual(['priority', 10, 2])
  const parked = taskType('parked', { payload: z.null() })
  work(client, handlerOf(parked, (_, { park, callback }) => (callback === undefined ? park({ callbackKey: 'later', timeoutSeconds: 60, onTimeout: undefined, checkpoint: undefined }) : { output: 'done', errors: none, decisionReport: undefined })))
  const sent = await client.enqueue(parked, null)
  await until(async () => (await client.task(sent.id)).status === 'waiting')
  await client.callback('later')
  expect(await inTime('the result', sent.result())).toMatchObject({ output: 'done' })
})

describe('a producer', () => {
  const validators = [
    ['io-ts', taskType('x', { payload: t.type({ to: t.string, lines: t.array(t.type({ cents: t.number })) }) }), 'must be a number, not "three"'],
    ['zod', taskType('x', { payload: z.object({ to: z.string(), lines: z.array(z.object({ cents: z.number() })) }) }), 'expected number'],
    ['valibot', taskType('x', { payload: v.object({ to: v.string(), lines: v.array(v.object({ cents: v.number() })) }) }), 'Expected number'],
    ['arktype', taskType('x', { payload: type({ to: 'string', lines: type({ cents: 'number' }).array() }) }), 'must be a number'],
  ] as const
  test.each(validators)('is told which field is wrong before anything is sent: %s', async (_, declared, said) => {
    const client = await fresh()
    const wrong = { to: 'ada', lines: [{ cents: 1 }, { cents: 'three' }] } as never
    const error = { code: 'invalid', unsent: true, status: 0, errors: [{ path: 'payload.lines[1].cents', message: expect.stringContaining(said) }], message: expect.stringMatching(/^this is no task of type x: payload\.lines\[1\]\.cents: /) }
    expect(await errorOf(client.enqueue(declared, wrong))).toMatchObject(error)
    expect(await errorOf(client.enqueue(declared, wrong, { id: 'a' }, {}))).toMatchObject(error)
    expect(await errorOf(client.enqueueAll([declared.task({ to: 'ada', lines: [] }), declared.task(wrong)]))).toMatchObject(error)
    const { results } = await client.enqueueAll([declared.task(wrong), declared.task({ to: 'ada', lines: [] })], { atomic: false })
    expect(results).toMatchObject([{ ok: false, error }, { ok: true, value: { status: 'pending' } }])
    expect((await client.tasks()).tasks).toMatchObject([{ type: 'x', payload: { to: 'ada', lines: [] } }])
  })

  test('gives the fields of a task beside its payload, and options', async () => {
    const client = await fresh()
    expect(await client.enqueue(invoice, full, { id: 'a', priority: 'HIGH', idempotencyKey: 'k' })).toMatchObject({ id: 'a', duplicate: false })
    expect(await client.enqueue(invoice, full, { id: 'a', idempotencyKey: 'k' }, { correlationId: 'c-1' })).toMatchObject({ id: 'a', duplicate: true })
    expect(await client.task('a')).toMatchObject({ type: 'invoice', priority: 8, idempotencyKey: 'k', payload: { customer: 'ada', due: due.toISOString() } })
  })

  test('sends what the codec encodes, and the input of a validator, whose defaults and transformations are the worker’s', async () => {
    const client = await fresh()
    await client.enqueueAll([invoice.task(full), mail.task({ to: 'ada@example.org', at: due.toISOString() })])
    expect((await client.tasks()).tasks.map(({ payload }) => payload)).toEqual([
      { customer: 'ada', due: due.toISOString(), lines: [{ cents: 1 }, { cents: 2 }] },
      { to: 'ada@example.org', at: due.toISOString() },
    ])
  })

  test('is refused what is fine here, and would be nothing that the worker accepts: a Date, which JSON makes a text', async () => {
    const client = await fresh()
    const dated = taskType('dated', { payload: z.object({ at: z.date() }) })
    expect(await errorOf(client.enqueue(dated, { at: due }))).toMatchObject({ code: 'invalid', errors: [{ path: 'payload.at' }] })
    expect(await errorOf(client.enqueue(invoice, { ...full, due: 'tomorrow' } as never))).toMatchObject({ code: 'invalid', errors: [{ path: 'payload' }] })
    expect(await errorOf(client.enqueue(invoice, { ...full, lines: [{ cents: Number.NaN }] }))).toMatchObject({ code: 'invalid', errors: [{ path: 'payload.lines[0].cents' }] })
    expect(await errorOf(client.enqueue(taskType('big', { payload: z.any() }), { n: 1n }))).toMatchObject({ code: 'invalid', errors: [{ path: 'payload', message: expect.stringContaining('BigInt') }] })
  })

  test('may have validators that take their time', async () => {
    const client = await fresh()
    const known = taskType('known', { payload: z.object({ to: z.string().refine(async (to) => Promise.resolve(to !== 'nobody'), 'is not known') }) })
    expect(await errorOf(client.enqueue(known, { to: 'nobody' }))).toMatchObject({ code: 'invalid', errors: [{ path: 'payload.to', message: 'is not known' }] })
    const sent = await client.enqueue(known, { to: 'ada' })
    work(client, handlerOf(known, async ({ payload }) => ({ output: payload.to })))
    expect((await inTime('the result', sent.result())).output).toBe('ada')
  })
})

describe('a worker', () => {
  test('gets the decoded payload, and whoever waits gets the decoded output, of several types in one worker', async () => {
    const client = await fresh()
    const seen: Array<unknown> = []
    work(
      client,
      handlerOf(invoice, ({ payload }, { signal }) => {
        seen.push(payload, signal.aborted)
        return { output: { total: payload.lines.reduce((sum, { cents }) => sum + cents, 0) }, decisionReport: 'added up' }
      }),
      handlerOf(mail, async ({ payload }) => {
        seen.push(payload)
        return { output: { sent: payload.at.toISOString() } }
      }),
    )
    const added = await client.enqueue(invoice, full)
    expect(await inTime('the total', added.result())).toEqual({ output: { total: 3 }, decisionReport: 'added up' })
    const sent = await client.enqueue(mail, { to: 'ada@example.org', at: due.toISOString() })
    expect((await inTime('the mail', sent.result())).output).toEqual({ sent: due })
    expect(seen).toEqual([full, false, { to: 'ada@example.org', copies: 1, at: due }])
    expect((await client.handle(sent.id, mail).result()).output.sent.getTime()).toBe(due.getTime())
    expect((await client.handle(sent.id).result()).output).toEqual({ sent: due.toISOString() })
  })

  test('in the process of the queue gets the whole task as well, of which most members are getters there', async () => {
    const client = await openEmbedded({ settings: { decisionReport: 'optional' } })
    opened.push(client.close)
    const seen: Array<object> = []
    const worker = createWorker({
      source: engineSource(await client.daybook.open('default')),
      handlers: [handlerOf(invoice, (task) => {
        seen.push(task)
        return { output: { total: 0 } }
      })],
    })
    worker.start()
    opened.push(() => worker.stop({ graceMs: 0 }))
    const sent = await client.enqueue(invoice, full, { id: 'i-1', priority: 7, description: 'for March', ticketId: 'T-1' })
    await inTime('the result', sent.result())
    expect(seen).toEqual([expect.objectContaining({ id: 'i-1', number: 1, type: 'invoice', priority: 7, description: 'for March', ticketId: 'T-1', attempt: 1, payload: full })])
  })

  test('leaves other types alone', async () => {
    const client = await fresh()
    await client.enqueue({ id: 'other', type: 'other' })
    work(client, handlerOf(invoice, () => ({ output: { total: 0 } })))
    const sent = await client.enqueue(invoice, full)
    await inTime('the result', sent.result())
    expect((await client.task('other')).status).toBe('pending')
  })

  test('a payload that is not one of the type is a dead letter at once, with the field in its error, and the handler is not called', async () => {
    const client = await fresh()
    let calls = 0
    work(client, handlerOf(invoice, () => (calls++, { output: { total: 0 } })))
    const sent = await client.enqueue({ type: 'invoice', payload: { customer: 'ada', due: 'tomorrow', lines: [{}] } })
    expect(await errorOf(sent.result())).toMatchObject({ taskStatus: 'dead-letter', lastError: expect.stringMatching(/^the payload is not one of invoice: payload\.due: must be a time; payload\.lines\[0\]\.cents: is required: a number/) })
    expect(calls).toBe(0)
    expect(await client.task(sent.id)).toMatchObject({ attempt: 1, attemptsMax: 2 })
    const failure = (await client.history(sent.id)).find(({ type: event }) => event === 'Failed')
    expect(failure?.data).toMatchObject({ error: { code: 'invalid-payload' } })
  })

  test('an output that is not one of the type is a failure like others: another attempt may do better', async () => {
    const client = await fresh()
    const seen: Array<number> = []
    const sent = await client.enqueue(invoice, full)
    work(client, handlerOf(invoice, ({ attempt }) => (seen.push(attempt), { output: { total: attempt === 1 ? ('three' as never) : 3 } })))
    expect((await inTime('the result', sent.result())).output).toEqual({ total: 3 })
    expect(seen).toEqual([1, 2])
    const [failure] = (await client.history(sent.id)).filter(({ type: event }) => event === 'Failed')
    expect(failure?.data).toMatchObject({ error: { code: 'invalid-result', message: 'the result is not one of invoice: output.total: must be a number, not "three"' } })
  })

  test('says that it has failed, without an output', async () => {
    const client = await fresh()
    work(client, handlerOf(invoice, () => ({ success: false, errors: ['no price for it'] })))
    const sent = await client.enqueue(invoice, full, { maxRetries: 1 })
    expect(await errorOf(sent.result())).toMatchObject({ taskStatus: 'dead-letter', lastError: 'no price for it' })
  })

  test('has one handler for each type', () => {
    const handler = handlerOf(invoice, () => ({ output: { total: 0 } }))
    expect(() => createWorker({ source: httpSource(queue.client), handlers: [handler, handler] })).toThrow('there are two handlers for invoice')
  })

  test('an output of another version of the worker is an error to whoever waits, with the field', async () => {
    const client = await fresh()
    const sent = await client.enqueue(invoice, full)
    const [claim] = await client.claim({ agentId: 'w', wait: 30 })
    await client.complete(sent.id, { agentId: 'w', token: claim!.lease.token, result: { output: { sum: 3 } } })
    expect(await errorOf(sent.result())).toMatchObject({ code: 'unexpected-answer', errors: [{ path: 'output.total', message: 'is required: a number' }] })
    expect((await client.handle(sent.id).result()).output).toEqual({ sum: 3 })
  })
})

test('a queue inside a program takes the same types', async () => {
  const client = await openEmbedded({ settings: { decisionReport: 'optional' } })
  opened.push(() => client.close())
  work(client, handlerOf(invoice, ({ payload }) => ({ output: { total: payload.due.getTime() } })))
  const sent = await client.enqueue(invoice, full)
  expect((await inTime('the result', sent.result())).output.total).toBe(due.getTime())
})

test('a test queue drains the same handlers', async () => {
  const kit = await createTestQueue({ settings: { decisionReport: 'optional' } })
  opened.push(() => kit.close())
  const sent = await kit.client.enqueue(invoice, full)
  await kit.client.enqueue({ id: 'wrong', type: 'mail', payload: { to: 7 } })
  const { runs } = await kit.drain([handlerOf(invoice, ({ payload }) => ({ output: { total: payload.lines.length } })), handlerOf(mail, () => ({ output: { sent: '' } }))])
  expect(runs).toMatchObject([{ type: 'invoice', status: 'completed' }, { id: 'wrong', status: 'dead-letter', error: expect.any(InvalidPayload) }])
  expect((await sent.result()).output).toEqual({ total: 2 })
})
