/** What the holder of a token may do. The table of routes says which role may call which route. */
import * as t from 'io-ts'

export const roles = ['producer', 'worker', 'operator', 'guardian', 'auditor', 'admin'] as const
export type Role = (typeof roles)[number]

export const Role = t.keyof(Object.fromEntries(roles.map((role) => [role, null])) as Record<Role, null>, roles.join(', '))
