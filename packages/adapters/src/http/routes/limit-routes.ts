/** The routes of limits: how much runs at once, and how often it starts. */
import { readers } from './access.js'
import { Concurrency, Rate } from '@daybook/core'
import * as t from 'io-ts'
import * as limits from '../handle/limits.js'
import * as q from '../query.js'
import { input, parameters, queueRoute, type Route, viewRoute } from './route.js'
import { Time } from '../../iso-time.js'

const members = { concurrency: Concurrency, rate: Rate }
export const LimitBody = t.partial(members, 'NewLimit')
export type LimitBody = t.TypeOf<typeof LimitBody>

/** `live` and `shutUntil` are missing in limits for each key, type or tenant. */
const LimitAnswer = t.intersection([t.type({ key: t.string }), t.partial({ ...members, live: t.number, shutUntil: Time })], 'Limit')
const LimitsAnswer = t.type({ limits: t.readonlyArray(LimitAnswer), revision: t.number }, 'Limits')
const LimitRemovedAnswer = t.type({ key: t.string, removed: t.literal(true) }, 'Removed limit')

export const limitRoutes = (of: string): ReadonlyArray<Route> => {
  const view = parameters(q.MomentQuery)
  return [
    viewRoute({
      path: `${of}/limits`, who: readers, tenants: 'refused', unused: 'empty',
      tag: 'limits', summary: 'All limits, with the number of live leases under each.',
      query: view, answers: { 200: LimitsAnswer }, handle: limits.list,
    }),
    viewRoute({
      path: `${of}/limits/{key}`, who: readers, tenants: 'refused',
      tag: 'limits', summary: 'A limit.',
      description: 'The limit of a concurrency key, of a type (`type:TYPE`) or of a tenant (`tenant:TENANT`).',
      query: view, answers: { 200: LimitAnswer }, handle: limits.show,
    }),
    queueRoute({
      method: 'PUT', path: `${of}/limits/{key}`, who: ['operator'], tenants: 'refused', unused: 'opened',
      tag: 'limits', summary: 'Sets a limit.',
      description: 'Sets how many tasks of a concurrency key, of a type (`type:TYPE`) or of a tenant (`tenant:TENANT`) may run at once, and how often they may start. `*`, `type:*` and `tenant:*` hold for each that has none of its own.',
      refusals: ['conflict'],
      body: input(LimitBody), answers: { 200: LimitAnswer }, handle: limits.set,
    }),
    queueRoute({
      method: 'DELETE', path: `${of}/limits/{key}`, who: ['operator'], tenants: 'refused',
      tag: 'limits', summary: 'Removes a limit.',
      answers: { 200: LimitRemovedAnswer }, handle: limits.remove,
    }),
  ]
}
