/** What an attacker does to a log. */
import { readSeal } from '@daybook/adapters/seals'
import type { RecordedEvent } from '@daybook/adapters/store'
import * as fc from 'fast-check'
import { type Append, isSealed, recorded, renumbered, resigned, someEvent, withMember } from './logs.js'

/** Logs whose last two appends have seals. */
export const appendsOf = (withOlder: boolean): fc.Arbitrary<ReadonlyArray<Append>> =>
  fc.array(fc.record({ count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 5 })), sealed: withOlder ? fc.boolean() : fc.constant(true) }), { minLength: 3, maxLength: 9 })
    .map((appends) => [...appends.slice(0, -1), { count: 2, sealed: true }, { count: 1, sealed: true }])

export interface Attack {
  readonly log: ReadonlyArray<RecordedEvent>
  /** The first event that is another one. */
  readonly first: number
  /** Whether the events among which it is are named, not the event. */
  readonly isRange?: boolean
}

/** Each does one thing at `i`, and perhaps another place `j > i`. */
export const attacks: Readonly<Record<string, (log: ReadonlyArray<RecordedEvent>, i: number, j: number) => Attack | undefined>> = {
  'data altered': (log, i) => ({ log: log.map((event, at) => (at === i ? { ...event, data: event.data.replace('"task"', '"tusk"') } : event)), first: i }),
  'type altered': (log, i) => ({ log: log.map((event, at) => (at === i ? { ...event, type: 'Completed' } : event)), first: i }),
  'id altered': (log, i) => ({ log: log.map((event, at) => (at === i ? { ...event, id: event.id.replace('4', '5') } : event)), first: i }),
  'actor altered': (log, i) => ({ log: log.map((event, at) => (at === i ? { ...event, metadata: event.metadata.replace('ann', 'bob') } : event)), first: i }),
  'time altered': (log, i) => ({ log: log.map((event, at) => (at === i ? { ...event, metadata: event.metadata.replace('2026', '2025') } : event)), first: i }),
  ...Object.fromEntries((['from', 'to', 'hash', 'leaves', 'fewer'] as const).map((member) => [
    `${member} of a seal altered`,
    (log: ReadonlyArray<RecordedEvent>, i: number): Attack | undefined => {
      const { seal } = readSeal(log[i]!.metadata) ?? {}
      // What covers events of older servers does not say how many of the rest it marks.
      if (seal === undefined || (member === 'fewer' && seal.leaves.length / 8 !== seal.to - seal.from + 1)) return undefined
      return { log: log.map((event, at) => (at === i ? withMember(event, member) : event)), first: i }
    },
  ])),
  'seal removed': (log, i) => (isSealed(log[i]!) ? { log: log.map((event, at) => (at === i ? { ...event, metadata: readSeal(event.metadata)!.bare } : event)), first: i } : undefined),
  deleted: (log, i) => ({ log: log.filter((_, at) => at !== i), first: i }),
  'deleted, the rest renumbered': (log, i) => ({ log: renumbered(log.filter((_, at) => at !== i)), first: i }),
  'some deleted, the rest renumbered': (log, i, j) => ({ log: renumbered(log.filter((_, at) => at < i || at >= j)), first: i }),
  swapped: (log, i, j) => ({ log: log.map((event, at) => (at === i ? log[j]! : at === j ? log[i]! : event)), first: i }),
  'swapped and renumbered': (log, i, j) => ({ log: renumbered(log.map((event, at) => (at === i ? log[j]! : at === j ? log[i]! : event))), first: i }),
  inserted: (log, i) => ({ log: renumbered([...log.slice(0, i), recorded(someEvent(), i), ...log.slice(i)]), first: i }),
  'copied from later': (log, i, j) => ({ log: renumbered([...log.slice(0, i), log[j]!, ...log.slice(i)]), first: i }),
  'copied from before': (log, i, j) => ({ log: renumbered([...log.slice(0, j), log[i]!, ...log.slice(j)]), first: j }),
  're-signed': (log, i) => ({ log: resigned(log, i), first: i, isRange: true }),
  're-signed up to a later append': (log, i, j) => ({ log: resigned(log, i, j), first: i, isRange: true }),
}
