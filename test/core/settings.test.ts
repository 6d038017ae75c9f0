/** How many members the settings have that have one for each name. */
import { decide, headOf, type SettingsPatch } from '@daybook/core'
import { isLeft } from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { Queue } from './queue.js'

const many = <A>(count: number, of: A, from = 0): Readonly<Record<string, A>> => Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${from + i}`, of]))
const refusal = (q: Queue, patch: SettingsPatch): unknown => {
  const decision = decide({ type: 'Configure', patch }, { at: q.at, random: 0 })(q.state)
  return isLeft(decision) ? decision.left.errors : 'accepted'
}

test.each<readonly [string, number, (members: Readonly<Record<string, never>>) => SettingsPatch, unknown]>([
  ['assignment.tenants', 10_000, (tenants) => ({ assignment: { tenants } }), 2],
  ['breakers.overrides', 10_000, (overrides) => ({ breakers: { overrides } }), { failureThreshold: 2 }],
  ['discoveries', 1_000, (discoveries) => ({ discoveries }), { type: 'x' }],
])('TQM-CFG: %s has %i members at most; with as many, one can be changed, removed and replaced', (path, max, patchOf, member) => {
  const patch = (members: Readonly<Record<string, unknown>>): SettingsPatch => patchOf(members as Readonly<Record<string, never>>)
  const q = new Queue()
  const before = Object.keys(path === 'discoveries' ? headOf(q.state).settings.discoveries : path === 'assignment.tenants' ? headOf(q.state).settings.assignment.tenants : {}).length
  q.configure(patch(many(max - before, member)))
  const full = [{ path, message: `would have ${max + 1} members: ${max} is the limit, and null removes one` }]
  expect(refusal(q, patch({ other: member }))).toEqual(full)
  expect(refusal(q, patch({ n1: member }))).toBe('accepted')
  expect(refusal(q, patch({ n1: null }))).toBe('accepted')
  expect(refusal(q, patch({ n1: null, other: member }))).toBe('accepted')
  expect(refusal(q, { policy: 'score' })).toBe('accepted')
})
