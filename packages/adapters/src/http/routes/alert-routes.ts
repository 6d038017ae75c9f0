/** The routes of alerts. */
import { readers } from './access.js'
import { alertKinds } from '@daybook/core'
import * as t from 'io-ts'
import * as alerts from '../handle/alerts.js'
import * as q from '../query.js'
import { parameters, type Route, viewRoute } from './route.js'
import { Time } from '../../iso-time.js'

const AlertAnswer = t.type(
  { key: t.string, kind: t.keyof(Object.fromEntries(alertKinds.map((kind) => [kind, null]))), message: t.string, raisedAt: Time },
  'Alert',
)
const AlertsAnswer = t.type({ alerts: t.readonlyArray(AlertAnswer), revision: t.number }, 'Alerts')

export const alertRoutes = (of: string): ReadonlyArray<Route> => [
  viewRoute({
    path: `${of}/alerts`, who: readers, tenants: 'refused', unused: 'empty',
    tag: 'alerts', summary: 'The alerts that are raised now.',
    query: parameters(q.MomentQuery), answers: { 200: AlertsAnswer }, handle: alerts.list,
  }),
]
