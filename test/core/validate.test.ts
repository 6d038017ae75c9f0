import { checkCommand, commandCodecs, eventCodecs, NewTask, SettingsPatch, validate } from '@daybook/core'
import * as t from 'io-ts'
import { expect, test } from 'vitest'

const tasks = t.type({ tasks: t.readonlyArray(NewTask) })
const paths = (codec: t.Mixed, input: unknown): unknown => {
  const result = validate(codec)(input)
  return result._tag === 'Left' ? result.left.map(({ path }) => path) : 'valid'
}

test.each<readonly [string, unknown, unknown]>([
  ['all that is needed', { tasks: [{ type: 'work' }] }, 'valid'],
  ['a priority by name', { tasks: [{ type: 'work', priority: 'HIGH' }] }, 'valid'],
  ['no type', { tasks: [{ type: 'work' }, {}] }, ['tasks[1].type']],
  ['two mistakes', { tasks: [{ type: 7, timeout: 'long' }] }, ['tasks[0].type', 'tasks[0].timeout']],
  ['a priority out of range', { tasks: [{ type: 'work', priority: 11 }] }, ['tasks[0].priority']],
  ['half a priority', { tasks: [{ type: 'work', priority: 2.5 }] }, ['tasks[0].priority']],
  ['NaN', { tasks: [{ type: 'work', timeout: Number.NaN }] }, ['tasks[0].timeout']],
  ['infinity', { tasks: [{ type: 'work', backoffSeconds: Number.POSITIVE_INFINITY }] }, ['tasks[0].backoffSeconds']],
  ['NaN in a payload', { tasks: [{ type: 'work', payload: { a: Number.NaN } }] }, ['tasks[0].payload.a']],
  ['no time at all', { tasks: [{ type: 'work', timeout: 0 }] }, ['tasks[0].timeout']],
  ['a time beyond year 9999', { tasks: [{ type: 'work', availableAt: 253_402_300_800_000 }] }, ['tasks[0].availableAt']],
  ['a type with a star', { tasks: [{ type: 'eng-*' }] }, ['tasks[0].type']],
  ['a list that is none', { tasks: {} }, ['tasks']],
  ['no object', 7, ['(body)']],
  ['null', null, ['(body)']],
  ['an unknown field', { tasks: [{ type: 'work', prioritty: 1 }] }, ['tasks[0].prioritty']],
  ['an unknown field at the top', { tasks: [], task: 1 }, ['task']],
  ['an unknown field deep down', { tasks: [{ type: 'work', requires: { skils: [] } }] }, ['tasks[0].requires.skils']],
  ['a field that is wrong and one that is unknown', { tasks: [{ type: 5, bogus: 1 }, { tipe: 'a', requires: [] }] }, ['tasks[0].type', 'tasks[1].type', 'tasks[1].requires', 'tasks[0].bogus', 'tasks[1].tipe']],
  ['any field within a payload', { tasks: [{ type: 'work', payload: { prioritty: 1 } }] }, 'valid'],
  ['an own __proto__', JSON.parse('{"tasks":[{"type":"work","__proto__":{"priority":99}}]}'), ['tasks[0].__proto__']],
  ['an own constructor', { tasks: [{ type: 'work', constructor: 1 }] }, ['tasks[0].constructor']],
  ['257 dependencies', { tasks: [{ type: 'work', dependencies: Array.from({ length: 257 }, (_, i) => `t${i}`) }] }, ['tasks[0].dependencies']],
  ['257 skills', { tasks: [{ type: 'work', requires: { skills: Array.from({ length: 257 }, (_, i) => `s${i}`) } }] }, ['tasks[0].requires.skills']],
  ['256 skills', { tasks: [{ type: 'work', requires: { skills: Array.from({ length: 256 }, (_, i) => `s${i}`) } }] }, 'valid'],
  ['a dependency that is no id', { tasks: [{ type: 'work', dependencies: ['a', '#1'] }] }, ['tasks[0].dependencies[1]']],
])('LK-01: %s', (_, input, want) => {
  expect(paths(tasks, input)).toEqual(want)
})

test.each<readonly [string, unknown, unknown]>([
  ['nothing', {}, 'valid'],
  ['an override', { breakers: { overrides: { work: { failureThreshold: 1 }, x: null } } }, 'valid'],
  ['an override that is too low', { breakers: { overrides: { work: { failureThreshold: 0 } } } }, ['breakers.overrides.work.failureThreshold']],
  ['an override with a value that is wrong and a field that is unknown', { breakers: { overrides: { work: { failureThreshold: 0, threshold: 1 } } } }, ['breakers.overrides.work.failureThreshold', 'breakers.overrides.work.threshold']],
  ['an override with an unknown field', { breakers: { overrides: { work: { threshold: 1 } } } }, ['breakers.overrides.work.threshold']],
  ['an unknown policy', { policy: 'random' }, ['policy']],
  ['jitter above one', { defaults: { jitter: 1.1 } }, ['defaults.jitter']],
])('TQM-CFG: a settings patch with %s', (_, input, want) => {
  expect(paths(SettingsPatch, input)).toEqual(want)
})

test('an error message has the given value and the accepted ones', () => {
  const [priority] = leftOf(validate(tasks)({ tasks: [{ type: 'work', timeout: -1 }] }))
  expect(priority?.message).toBe('must be a number from 0.001 to 315360000, not -1')
  const [unknown] = leftOf(validate(tasks)({ tasks: [{ type: 'work', prio: 1 }] }))
  expect(unknown?.message).toContain('known: availableAt, backoffSeconds')
  const [missing] = leftOf(validate(tasks, 'body')({}))
  expect(missing).toEqual({ path: 'body.tasks', message: expect.stringContaining('is required') as string })
})

test.each<readonly [unknown, string]>([
  [[], '(body) must be an object, not an empty list'],
  [{ type: 5 }, 'type must be a task type (1–128 printable characters, without *), not 5'],
  [{}, 'type is required: a task type (1–128 printable characters, without *)'],
  [{ type: 't', id: '#1' }, 'id must be a task id (1–128 printable characters, not starting with #), not "#1"'],
  [{ type: 't', dependencies: 'a' }, 'dependencies must be at most 256 task ids, not "a"'],
  [{ type: 't', dependencies: new Array(257).fill('a') }, 'dependencies must be at most 256 task ids, not a list of 257'],
  [{ type: 't', priority: 'URGENT' }, 'priority must be a whole number from 1 to 10 or one of CRITICAL, HIGH, MEDIUM, LOW, not "URGENT"'],
  [{ type: 't', phase: {} }, 'phase must be one of REQUIREMENTS, IMPLEMENTATION, VALIDATION, ANALYSIS, TESTING, not an object'],
  [{ type: 't', requires: { skills: 'a' } }, 'requires.skills must be at most 256 skills, not "a"'],
  [{ type: 't', ticketId: '' }, 'ticketId must be 1–128 printable characters, not ""'],
  [{ type: 't', metadata: [1] }, 'metadata must be a JSON object, not a list of 1'],
])('LK-01: %j: the error message reads as a sentence', (input, sentence) => {
  expect(leftOf(validate(NewTask)(input)).map(({ path, message }) => `${path} ${message}`)).toEqual([sentence])
})

test.each<readonly [t.Mixed, unknown, string]>([
  [SettingsPatch, { decisionReport: 'maybe' }, 'decisionReport must be one of required, optional, not "maybe"'],
  [SettingsPatch, { breakers: { overrides: { work: 5 } } }, 'breakers.overrides.work must be an object or null, not 5'],
  [SettingsPatch, { policy: 'random' }, 'policy must be one of priority, score, not "random"'],
  [commandCodecs.Heartbeat, { type: 'Heartbeat', task: 't', agent: '', token: 1 }, 'agent must be an agent id (1–128 printable characters), not ""'],
  [commandCodecs.Fail, { type: 'Fail', task: 't', agent: 'a', token: 1, error: { message: 'm' }, retryable: 1 }, 'retryable must be true or false, not 1'],
])('TQM-CFG: an invalid setting or outcome: %#', (codec, input, sentence) => {
  expect(leftOf(validate(codec)(input)).map(({ path, message }) => `${path} ${message}`)).toEqual([sentence])
})

const names = (length: number): ReadonlyArray<string> => Array.from({ length }, (_, i) => `n${i}`)
test.each(['types', 'skills'] as const)('a claim or a registration with more than 1,000 %s is refused: the queue keeps them in memory', (list) => {
  for (const [length, verdict] of [[1_000, 'Right'], [1_001, 'Left']] as const) {
    expect(checkCommand({ type: 'Claim', agent: 'ann', max: 1, [list]: names(length) })._tag).toBe(verdict)
    expect(checkCommand({ type: 'RegisterAgent', agent: 'ann', [list]: names(length) })._tag).toBe(verdict)
  }
  const [error] = leftOf(validate(commandCodecs.RegisterAgent)({ type: 'RegisterAgent', agent: 'ann', skills: names(1_001) }))
  expect(error?.message).toBe('must be at most 1000 skills, not a list of 1001')
})

test('a task with more than 256 skills is refused, and one that was recorded with more is read', () => {
  const task = { id: 'a', type: 'work', idempotencyKey: 'k', content: '{}', skills: names(257) }
  expect(checkCommand({ type: 'Enqueue', tasks: [task] })._tag).toBe('Left')
  const fact = { task: 'a', number: 1, type: 'work', priority: 5, idempotencyKey: 'k', timeout: 1, maxRetries: 1, backoffSeconds: 1, skills: names(257) }
  expect(eventCodecs.TaskEnqueued.is(fact)).toBe(true)
})

test('well-formed input is returned as it is, not copied', () => {
  const input = { type: 'Pause', reason: 'lunch' }
  const result = validate(commandCodecs.Pause)(input)
  expect(result._tag === 'Right' && result.right).toBe(input)
})

const leftOf = <A>(result: { readonly _tag: 'Left'; readonly left: ReadonlyArray<A> } | { readonly _tag: 'Right' }): ReadonlyArray<A> =>
  result._tag === 'Left' ? result.left : []

test('ADR 9: a type that is not there is refused, also in the first command of a process, which has seen no type before', async () => {
  // The address makes it a module of its own.
  const { checkCommand: check } = (await import(new URL('../../packages/core/dist/model/check-command.js?first', import.meta.url).href)) as { readonly checkCommand: typeof checkCommand }
  expect(check({ type: 'Claim', agent: 'ann', max: 1, types: [undefined] })._tag).toBe('Left')
  expect(check({ type: 'Enqueue', tasks: [{ id: 'a', type: undefined, idempotencyKey: 'k', content: '{}' }] })._tag).toBe('Left')
  expect(check({ type: 'Claim', agent: 'ann', max: 1, types: ['work'] })._tag).toBe('Right')
})
