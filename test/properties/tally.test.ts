/** Tasks of a snapshot, counted by group and by list: the same as one by one, however few are gathered at a time, and through several snapshots of a series. */
import { Group, GroupKinds, statusIn, Tally, type TenantShare } from '@daybook/core/testing'
import { type Phase, phases } from '@daybook/core'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from './settings.js'

/** Each phase has lists of its own; only who they are matters here. */
const listsOf = new Map([undefined, ...phases].map((phase) => [phase, {} as never]))
const kinds = new GroupKinds(listsOf)
const groups: ReadonlyArray<Group> = Array.from({ length: 12 }, (_, i) =>
  new Group(kinds.of(`type ${i % 4}`, phases[i % 3] as Phase, [], undefined), { name: `tenant ${i}` } as TenantShare, { name: `tenant ${i}` } as TenantShare))
/** Bands of two statuses, with two priorities each. */
const standings = [1, 5, 133, 137]

const snapshot = fc.record({
  tasks: fc.array(fc.record({ group: fc.nat({ max: groups.length - 1 }), standing: fc.constantFrom(...standings) }), { maxLength: 60, size: 'max' }),
  /** Which group each number means. */
  first: fc.nat({ max: groups.length - 1 }),
})

test('tasks are counted in their groups and listed by phase, status and priority, however few are gathered at a time', () => {
  fc.assert(
    fc.property(fc.array(snapshot, { minLength: 1, maxLength: 3 }), fc.integer({ min: 0, max: 70 }), (snapshots, room) => {
      const counts = new Map<Group, number>()
      const lists = new Map<string, Array<number>>()
      let first = 0
      const groupOf = (number: number): Group => groups[(first + number) % groups.length] as Group
      const tally = new Tally(room, {
        groupOf,
        join: (group, tasks) => void counts.set(group, (counts.get(group) ?? 0) + tasks),
        list: (listed, status, priority, numbers) => {
          const [phase] = [...listsOf].find(([, own]) => own === listed)!
          const name = `${phase} ${status} ${priority}`
          lists.set(name, [...(lists.get(name) ?? []), ...numbers])
        },
      })
      const wantedCounts = new Map<Group, number>()
      const wantedLists = new Map<string, Array<number>>()
      let number = 2 ** 33
      for (const each of snapshots) {
        first = each.first
        for (const { group, standing } of each.tasks) {
          const of = groupOf(group)
          tally.add(++number, group, standing)
          wantedCounts.set(of, (wantedCounts.get(of) ?? 0) + 1)
          // The state must find a group as soon as it has a task.
          expect(counts.get(of)).toBeGreaterThan(0)
          const name = `${of.phase} ${statusIn(standing)} ${standing % 16}`
          wantedLists.set(name, [...(wantedLists.get(name) ?? []), number])
        }
        tally.end()
      }
      expect(counts).toEqual(wantedCounts)
      expect(new Map([...lists].map(([name, numbers]) => [name, numbers.sort((a, b) => a - b)]))).toEqual(wantedLists)
    }),
    runs(300),
  )
})
