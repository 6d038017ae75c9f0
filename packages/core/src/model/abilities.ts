/**
 * The lists of what an agent can take, in its claims and its registration. The queue keeps a registration in memory until it ends, and a claim while
 * it waits, so their length is limited. Recorded registrations may have longer ones.
 */
import * as t from 'io-ts'
import { listOf } from './list.js'
import { Name, TypePattern } from './scalars.js'
import { Phase } from './task.js'

export const abilitiesMax = 1_000

const atMost = <C extends t.Mixed>(item: C, what: string) => t.refinement(listOf(item), (list) => list.length <= abilitiesMax, `at most ${abilitiesMax} ${what}`)

export const abilities = {
  types: atMost(TypePattern, 'types or patterns'),
  phases: atMost(Phase, 'phases'),
  skills: atMost(Name, 'skills'),
}
