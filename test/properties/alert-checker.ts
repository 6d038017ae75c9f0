/**
 * EV-08: after a tick that raises and clears alerts and does nothing else, exactly those alerts are raised whose conditions a scan finds. The check
 * of misfits (INV-16) makes sure that each is raised and cleared once. `test/core/alerts.test.ts` tests conditions that depend on waiting times.
 */
import { alertsOf, nextAlertDue } from '@daybook/core'
import { same } from './look.js'
import { type Checker, holds } from './world.js'

export const alertsAreRight = (): Checker => ({
  command: ({ shadow, state }, command, decision, { at }) => {
    if (command.type !== 'Tick' || command.alerts !== true || decision._tag === 'Left') return
    const isDue = (nextAlertDue(state) ?? Number.POSITIVE_INFINITY) <= Math.max(at, shadow.at)
    // Otherwise the engine would tick without end, or not at all.
    same(decision.right.some(({ type }) => type === 'AlertRaised' || type === 'AlertCleared'), isDue, `whether a tick at ${at} changes an alert`)
  },
  step: ({ shadow, state }, command, decided) => {
    if (command?.type !== 'Tick' || command.alerts !== true || decided.some(({ type }) => type !== 'AlertRaised' && type !== 'AlertCleared')) return
    const raised = alertsOf(state).map(({ key }) => key)
    const of = (kind: string): ReadonlyArray<string> => raised.filter((key) => key.startsWith(`${kind}:`)).sort()
    const dead = shadow.tasks.filter(({ stage }) => stage === 'dead-letter')
    same(of('dead-letters'), [...new Set(dead.map(({ facts }) => `dead-letters:${facts.type}`))].sort(), 'alerts of dead letters')
    const exhausted = dead.filter(({ deadLetter }) => deadLetter?.reason === 'attempts-exhausted')
    same(of('attempts-exhausted'), exhausted.map(({ facts }) => `attempts-exhausted:${facts.task}`).sort(), 'alerts of exhausted attempts')
    const open = [...shadow.breakers].filter(([, breaker]) => breaker.state !== 'closed')
    same(of('breaker-open'), open.map(([type]) => `breaker-open:${type}`).sort(), 'alerts of breakers')
    const ready = shadow.tasks.filter((task) => shadow.statusOf(task) === 'pending')
    holds(ready.length > 0 || !raised.includes('starvation'), 'an alert of starvation without a ready task')
    holds(ready.some(({ facts }) => facts.priority === 10) || !raised.includes('critical-waiting'), 'an alert of CRITICAL tasks without one')
  },
})
