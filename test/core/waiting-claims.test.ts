/** The order in which waiting claims are offered tasks. How the engine uses it is in `test/engine/waiting-claims.test.ts`. */
import { type ClaimShape, WaitingClaims } from '@daybook/core'
import { expect, test, vi } from 'vitest'

interface Claim {
  readonly name: string
  readonly command: { readonly agent: string }
  readonly isOver: () => boolean
}
const claim = (name: string, agent = name): Claim => ({ name, command: { agent }, isOver: () => false })
/** All that waiting claims use of a shape. */
const shape = (): ClaimShape => ({ waiting: 0 }) as ClaimShape

test('LK-06: the claims of many lines are offered tasks in the order in which they came', () => {
  const waiting = new WaitingClaims<Claim>()
  const shapes = Array.from({ length: 40 }, shape)
  const names: Array<string> = []
  for (let n = 0; n < 200; n++) {
    names.push(`${n}`)
    waiting.add(claim(`${n}`), shapes[(n * n + 7 * n) % 40] as ClaimShape)
  }
  waiting.wake(shapes)
  const offered: Array<string> = []
  const serve = ({ name }: Claim): 'served' | 'empty' => (offered.push(name) % 3 === 0 ? 'served' : 'empty')
  waiting.offer(serve, () => 'all', () => new Map())
  expect(offered).toEqual(names)
  expect(waiting.size).toBe(200 - 66)
})

test('TQM-CAP-003: at capacity a claim of an agent that works is offered once what it is served, though it is in the line of its shape as well', () => {
  const waiting = new WaitingClaims<Claim>()
  const [plain, bumped] = [shape(), shape()]
  waiting.add(claim('first', 'idle'), plain)
  for (const name of ['a', 'b', 'c', 'd']) waiting.add(claim(name), bumped)
  waiting.add(claim('last', 'a'), plain)
  waiting.wake([plain, bumped])
  const offered: Array<string> = []
  const serve = ({ name }: Claim): 'served' => (offered.push(name), 'served')
  const active = new Map(['a', 'b', 'c', 'd'].map((agent) => [agent, undefined]))
  waiting.offer(serve, (of) => (of === bumped ? 'all' : 'active'), () => active)
  expect(offered).toEqual(['a', 'b', 'c', 'd', 'last'])
})

test('LK-06: claims that are put back are offered tasks before all others, in their own order', () => {
  const waiting = new WaitingClaims<Claim>()
  const [one, other] = [shape(), shape()]
  for (const name of ['a', 'b']) waiting.add(claim(name), one)
  waiting.add(claim('c'), other)
  waiting.putBack(['x', 'y', 'z'].map((name) => claim(name)), ({ name }) => (name === 'y' ? other : one))
  waiting.putBack([claim('v'), claim('w')], () => one)
  const offered: Array<string> = []
  waiting.offer(({ name }) => (offered.push(name), 'empty'), () => 'all', () => new Map())
  expect(offered).toEqual(['v', 'w', 'x', 'y', 'z', 'a', 'b', 'c'])
  expect(waiting.drain().map(({ name }) => name)).toEqual(offered)
})

test('LK-06: to put many claims back takes one step for each claim of their line', () => {
  const waiting = new WaitingClaims<Claim>()
  const many = shape()
  const names = Array.from({ length: 200 }, (_, n) => `${n}`)
  for (const name of names) waiting.add(claim(name), many)
  const sets = vi.spyOn(Map.prototype, 'set')
  try {
    waiting.putBack(names.map((name) => claim(`back ${name}`)), () => many)
    expect(sets.mock.calls.length).toBeLessThan(10 * names.length)
  } finally {
    sets.mockRestore()
  }
})

test('TQM-ASSIGN-001: claims of an agent that registers move to other lines, keep their places among all claims, and are offered tasks', () => {
  const waiting = new WaitingClaims<Claim>()
  const [narrow, wide] = [shape(), shape()]
  waiting.add(claim('first'), wide)
  waiting.add(claim('moved 1', 'ann'), narrow)
  waiting.add(claim('second'), wide)
  waiting.add(claim('moved 2', 'ann'), narrow)
  waiting.add(claim('third'), wide)
  waiting.moveClaimsOf('bob', () => wide)
  expect(waiting.isOfferDue).toBe(false)
  waiting.moveClaimsOf('ann', () => wide)
  expect([waiting.size, narrow.waiting, wide.waiting, waiting.isOfferDue]).toEqual([5, 0, 5, true])
  const offered: Array<string> = []
  waiting.offer(({ name }) => (offered.push(name), 'empty'), () => 'all', () => new Map())
  expect(offered).toEqual(['first', 'moved 1', 'second', 'moved 2', 'third'])
  // The same again changes nothing.
  waiting.moveClaimsOf('ann', () => wide)
  expect(waiting.isOfferDue).toBe(false)
})
