/** EV-07: the chain finds whatever is done to a log, and names the first event that is not what was appended. */
import { type Broken, ChainVerifier, type Verdict } from '@daybook/adapters/chain'
import { Chain, readSeal, sealed } from '@daybook/adapters/seals'
import type { RecordedEvent } from '@daybook/adapters/store'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '../properties/settings.js'
import { appendsOf, attacks } from './attacks.js'
import { isSealed, logOfAppends, resigned, stream, withMember } from './logs.js'

const verified = (log: ReadonlyArray<RecordedEvent>, pageSize = 7, head?: number): Verdict => {
  const verifier = new ChainVerifier(stream)
  for (let at = 0; at < log.length; at += pageSize) if (!verifier.take(log.slice(at, at + pageSize))) break
  return head === undefined ? verifier.end() : verifier.end(head)
}

const covers = ({ revision, to = revision }: Broken, wanted: number): boolean => revision <= wanted && wanted <= to

for (const withOlder of [false, true]) {
  for (const [name, attack] of Object.entries(attacks)) {
    test(`EV-07: ${name}: found, and the first named${withOlder ? ', also where servers without seals wrote between' : ''}`, () => {
      let tried = 0
      fc.assert(
        fc.property(appendsOf(withOlder), fc.nat(), fc.nat(), fc.integer({ min: 1, max: 9 }), (appends, a, b, pageSize) => {
          const log = logOfAppends(appends)
          expect(verified(log, pageSize)).toMatchObject({ ok: true, events: log.length, broken: null, unsealed: null })
          // The last two appends are left alone: only a checkpoint protects a log's end.
          const begins = readSeal(log.find(isSealed)!.metadata)!.seal.from
          const places = log.length - 3 - begins
          if (places < 2) return
          const i = begins + (a % (places - 1))
          const j = i + 1 + (b % (begins + places - i - 1))
          const attacked = attack(log, i, j)
          if (attacked === undefined) return
          tried++
          const { ok, broken } = verified(attacked.log, pageSize)
          expect(ok).toBe(false)
          expect(broken).toSatisfy((found: Broken) => covers(found, attacked.first))
          // Where two places next to each other were changed, the second cannot tell what happened at the first.
          const isOpen = broken!.reason.includes(', or the hash in the metadata of')
          if (!withOlder && attacked.isRange !== true && !isOpen) expect(broken!.to).toBeUndefined()
        }),
        runs(150),
      )
      expect(tried).toBeGreaterThan(0)
    })
  }
}

test('EV-07: what happened is told: altered, missing, inserted, reordered, re-signed', () => {
  const log = logOfAppends([{ count: 4, sealed: true }, { count: 1, sealed: true }, { count: 3, sealed: true }, { count: 1, sealed: true }])
  const brokenBy = (name: string, i: number, j = i + 1): Broken | null => verified(attacks[name]!(log, i, j)!.log).broken
  expect(brokenBy('data altered', 2)).toMatchObject({ kind: 'altered', revision: 2 })
  expect(brokenBy('hash of a seal altered', 4)).toMatchObject({ kind: 'altered', revision: 4, reason: expect.stringContaining('hash in the metadata') })
  expect(brokenBy('deleted', 2)).toEqual({ kind: 'missing', revision: 2, reason: 'revision 2 is missing' })
  expect(brokenBy('deleted, the rest renumbered', 2)).toMatchObject({ kind: 'missing', revision: 2 })
  expect(brokenBy('inserted', 2)).toMatchObject({ kind: 'inserted', revision: 2 })
  expect(brokenBy('swapped', 1, 5)).toMatchObject({ kind: 'reordered', revision: 1 })
  expect(brokenBy('swapped and renumbered', 1, 2)).toMatchObject({ kind: 'reordered', revision: 1 })
})

test('EV-07: an event that was altered and whose hash was computed anew, with or without later ones: what is named begins with the chain, or after the last checkpoint that fits', () => {
  const log = logOfAppends([{ count: 2, sealed: false }, { count: 4, sealed: true }, { count: 1, sealed: true }, { count: 3, sealed: true }, { count: 1, sealed: true }, { count: 1, sealed: true }])
  const upTo = (to: number): string => `some event up to revision ${to}, or its hash, was altered, and the hashes from it to revision ${to} were computed anew: the events after it continue another hash`
  expect(verified(resigned(log, 6)).broken).toEqual({ kind: 're-signed', revision: 2, to: 6, reason: upTo(6) })
  expect(verified(resigned(log, 3, 9)).broken).toEqual({ kind: 're-signed', revision: 2, to: 9, reason: upTo(9) })
  const signedUpTo = (size: number): Broken | null => {
    const verifier = new ChainVerifier(stream, undefined, undefined, () => size)
    verifier.take(resigned(log, 8, 9))
    return verifier.end().broken
  }
  expect(signedUpTo(6)).toEqual({ kind: 're-signed', revision: 6, to: 9, reason: upTo(9) })
  expect(signedUpTo(9)).toEqual({ kind: 're-signed', revision: 9, reason: upTo(9) })
  // Then no event was altered, but hashes were.
  expect(signedUpTo(10)).toEqual({ kind: 're-signed', revision: 2, to: 9, reason: upTo(9) })
  // No event comes after the hash that does not fit: it may be the altered one.
  const open = { kind: 're-signed', revision: 2, to: 11, reason: `${upTo(10)}, or the hash in the metadata of revision 11 was altered` }
  expect(verified(resigned(log, 10)).broken).toEqual(open)
  expect(verified(log.map((event, at) => (at === 11 ? withMember(event, 'hash') : event))).broken).toEqual(open)
  // Nor does the next event tell, if it was altered as well.
  const both = log.map((event, at) => (at === 10 ? withMember(event, 'hash') : at === 11 ? { ...event, data: '{}' } : event))
  expect(verified(both).broken).toMatchObject({ kind: 're-signed', revision: 2, to: 10, reason: expect.stringContaining('or the hash in the metadata of revision 10 was altered') })
  // Events of an older server have no marks, so an alteration of one looks the same.
  const older = logOfAppends([{ count: 2, sealed: true }, { count: 2, sealed: true }, { count: 2, sealed: false }, { count: 2, sealed: true }, { count: 1, sealed: true }])
  const altered = { kind: 'altered', revision: 0, to: 5, reason: 'some event up to revision 5 was altered: the event after it has another hash before it' }
  expect(verified(attacks['data altered']!(older, 5, 6)!.log).broken).toEqual(altered)
  expect(verified(resigned(older, 1, 3)).broken).toEqual(altered)
})

test('EV-07: a log without seals, one whose chain begins later, and one that ends with events of an older server', () => {
  const none = logOfAppends([{ count: 3, sealed: false }])
  expect(verified(none)).toEqual({ ok: true, events: 3, head: { revision: 2, hash: null }, begins: null, unsealed: null, sealedLater: null, broken: null })
  const later = logOfAppends([{ count: 25_000, sealed: false }, { count: 3, sealed: true }, { count: 2, sealed: false }])
  const { hash } = readSeal(later[25_002]!.metadata)!.seal
  expect(verified(later, 2_000)).toEqual({ ok: true, events: 25_005, head: { revision: 25_004, hash }, begins: 25_000, unsealed: { from: 25_003, to: 25_004 }, sealedLater: null, broken: null })
  expect(verified([])).toEqual({ ok: true, events: 0, head: { revision: -1, hash: null }, begins: null, unsealed: null, sealedLater: null, broken: null })
  // The store says that there are more.
  expect(verified(none, 7, 4).broken).toMatchObject({ kind: 'missing', revision: 3 })
})

test('EV-07: events that only a later append sealed are counted, with the first and the last', () => {
  const sealedLater = (...appends: Parameters<typeof logOfAppends>[0]): unknown => {
    const { ok, sealedLater: found } = verified(logOfAppends(appends))
    expect(ok).toBe(true)
    return found
  }
  const [one, two, older] = [{ count: 1, sealed: true }, { count: 2, sealed: true }, { count: 1, sealed: false }]
  // The first seal covers no earlier append.
  expect(sealedLater(older, older, two, one, two)).toBeNull()
  expect(sealedLater(two, older, one)).toEqual({ events: 1, from: 2, to: 2 })
  expect(sealedLater(older, one, older, older, two, two, older, one, older)).toEqual({ events: 3, from: 2, to: 8 })
})

test('EV-07: the chain of a log is the same whoever goes on with it, and an append that fails leaves nothing in it', () => {
  const log = logOfAppends([{ count: 2, sealed: true }, { count: 2, sealed: false }])
  const [ours, theirs] = [new Chain(stream, undefined), new Chain(stream, undefined)]
  ours.take(log)
  for (const event of log) theirs.take([event])
  const seal = (chain: Chain, text: string): string => {
    const texts = [{ id: text, type: 'Claimed', data: `{"task":"${text}"}`, metadata: '{"at":1}' }]
    return sealed(stream, texts, 3, chain.end).events[0]!.metadata
  }
  const refused = seal(ours, 'refused')
  expect(seal(ours, 'next')).toBe(seal(theirs, 'next'))
  expect(refused).not.toBe(seal(new Chain(stream, undefined), 'refused'))
  expect(readSeal(refused)!.seal).toMatchObject({ from: 2, to: 4 })
})
