/** What the holder of a token may do. Which role may call which route is said by the table of routes. */
import * as t from 'io-ts'

export const roles = ['producer', 'worker', 'operator', 'guardian', 'auditor', 'admin'] as const
export type Role = (typeof roles)[number]

export const Role = t.keyof(Object.fromEntries(roles.map((role) => [role, null])) as Record<Role, null>, roles.join(', '))
