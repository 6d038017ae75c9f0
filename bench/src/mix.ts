/** A load with everything that the order of tasks depends on: types, phases, tenants and deadlines. */
import { phases, type SettingsPatch } from '@daybook/core'
import { newTask } from './measure.js'

export const mixTypes = 50
export const mixTenants = 100
/** The time until the last deadline. At the start, a quarter of the deadlines are within the urgency window of 15 minutes. */
const deadlineMs = 3_600_000

export const mixSettings: SettingsPatch = { policy: 'score' }

const types = Array.from({ length: mixTypes }, (_, i) => `mix.${i}`)
const tenants = Array.from({ length: mixTenants }, (_, i) => `tenant-${i}`)

let made = 0

/** Types, phases and tenants rotate over 50 types, 5 phases and 100 tenants, so that each combination is equally frequent. Every fifth task has a deadline. */
export const mixedTask = () => mixedTaskWith((at) => at)

/** The same task in the client's form. */
export const mixedTaskForClient = () => mixedTaskWith((at) => new Date(at))

const mixedTaskWith = <T>(timeOf: (at: number) => T) => {
  // A step without a common divisor with the number of groups visits all groups, in a mixed order.
  const group = (made++ * 7_919) % (mixTypes * phases.length * mixTenants)
  const { priority, payload } = newTask()
  const type = types[group % mixTypes]!
  const phase = phases[Math.floor(group / mixTypes) % phases.length]!
  const tenant = tenants[Math.floor(group / (mixTypes * phases.length))]!
  // Not by spreading: an object made in that way takes several times as long to read.
  if (made % 5 > 0) return { type, priority, payload, phase, tenant }
  return { type, priority, payload, phase, tenant, deadlineAt: timeOf(Date.now() + ((made * 7_919) % deadlineMs)) }
}
