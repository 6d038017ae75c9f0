/** EV-07: the parts of facts that are withheld in erasable queues. */
import { eventTypes, holderOfContent, isUnreadable, decodeEvent, type QueueEvent, withhold, withheldText } from '@daybook/core'
import { expect, test } from 'vitest'
import { everyAmendment, everyEvent, everyLoop, everyReview, everySchedule, everyWait } from '../golden/history.js'

const all = [...everyEvent(), ...everyWait(), ...everyLoop(), ...everySchedule(), ...everyReview(), ...everyAmendment()]

/** Members in which agents and producers write free text. For a new one it must be decided whether it is withheld or stays readable. */
const free: ReadonlySet<string> = new Set(['error', 'checkpoint', 'progress', 'lastError'])
/** Agents give these reasons, people the others. */
const reasonsOfAgents: ReadonlySet<string> = new Set(['Released', 'ClaimReturned'])

const textsIn = (value: unknown): ReadonlyArray<string> =>
  typeof value === 'string' ? [value] : typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []

test('EV-07: no error, checkpoint, progress or reason of an agent stays in the facts; what is withheld is all there', () => {
  const seen = new Set<string>()
  for (const event of all) {
    const { event: bare, members } = withhold(event)
    const kept = (members === '' ? {} : JSON.parse(members)) as Record<string, unknown>
    for (const [name, value] of Object.entries(event.data)) {
      const isFree = free.has(name) || (name === 'reason' && reasonsOfAgents.has(event.type))
      expect([event.type, name, name in kept]).toEqual([event.type, name, isFree])
      const now = (bare.data as Record<string, unknown>)[name]
      if (!isFree) expect(now).toBe(value)
      else {
        seen.add(`${event.type}.${name}`)
        expect(kept[name]).toEqual(value)
        expect(textsIn(now).every((text) => text === withheldText)).toBe(true)
      }
    }
    expect(bare.content).toBe(event.content)
  }
  expect([...seen].sort()).toEqual([
    'ClaimReturned.reason', 'Failed.checkpoint', 'Failed.error', 'LeaseExtended.checkpoint', 'LeaseExtended.progress', 'LoopHalted.error', 'RateLimited.checkpoint', 'RateLimited.error',
    'Released.reason', 'TaskImported.lastError', 'TaskParked.checkpoint', 'ValidationFailed.error',
  ])
})

test('EV-07: the facts with their stand-ins are facts: the codec takes them', () => {
  for (const event of all) {
    const { data, type, at } = withhold(event).event
    expect(isUnreadable(decodeEvent(type, 1, at, JSON.parse(JSON.stringify(data)) as unknown) as QueueEvent)).toBe(false)
  }
})

test('EV-07: everything with content or free text belongs to a task', () => {
  for (const event of all) {
    const hasMore = event.content !== undefined || withhold(event).members !== ''
    const holder = holderOfContent(event)
    expect([event.type, holder !== undefined]).toEqual([event.type, hasMore])
    if (holder !== undefined && 'task' in event.data) expect(holder).toBe(event.data.task)
  }
  expect(new Set(all.map(({ type }) => type)).size).toBeGreaterThan(eventTypes.length / 2)
})
