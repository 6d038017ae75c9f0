/** A load with everything that the order of tasks depends on: types, phases, tenants and deadlines. */
import { phases, type SettingsPatch } from '@daybook/core'
import { newTask } from './measure.js'

export const mixTypes = 50
export const mixTenants = 100
/** The last deadline, from now. A quarter of them is within the urgency window of 15 minutes at the start. */
const deadlineMs = 3_600_000

export const mixSettings: SettingsPatch = { policy: 'score' }

let made = 0

/** One of 50 types, 5 phases and 100 tenants, each combination as often as the others; every fifth task has a deadline. */
export const mixedTask = () => {
  // A step without a common divisor with the number of groups visits them all, in a mixed order.
  const group = (made++ * 7_919) % (mixTypes * phases.length * mixTenants)
  const tenant = Math.floor(group / (mixTypes * phases.length))
  return {
    ...newTask(),
    type: `mix.${group % mixTypes}`,
    phase: phases[Math.floor(group / mixTypes) % phases.length]!,
    tenant: `tenant-${tenant}`,
    ...(made % 5 === 0 ? { deadlineAt: Date.now() + ((made * 7_919) % deadlineMs) } : {}),
  }
}
