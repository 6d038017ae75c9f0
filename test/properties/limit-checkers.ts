/** INV-23: limits on live leases and on starts, and lines of tasks that run one after the other. */
import { limitsOf, type QueueEvent } from '@daybook/core'
import { limitKeysOf, type ShadowTask } from '../support/states/index.js'
import { same } from './look.js'
import { type Checker, holds } from './world.js'

/** Judged only by the log: who holds a lease, and when starts happened. */
export const withinLimits = (): Checker => {
  /** By key of the limit: the starts since its rate was set. */
  let starts = new Map<string, Array<number>>()
  return {
    event: ({ shadow }, event) => {
      if (event.type !== 'Claimed') return
      const task = shadow.task(event.data.task) as ShadowTask
      for (const key of limitKeysOf(task.facts)) {
        const { concurrency, rate } = shadow.limits.of(key)
        const live = shadow.tasks.filter((each) => shadow.isHeld(each) && limitKeysOf(each.facts).includes(key)).length
        holds(concurrency === undefined || live < concurrency, `${event.data.task} is the ${live + 1}th lease under ${key}, which may have ${concurrency}`)
        if (rate === undefined) continue
        const since = [...(starts.get(key) ?? []), event.at]
        const first = since[since.length - 1 - rate.starts]
        holds(first === undefined || event.at - first >= rate.perSeconds * 1_000, `${rate.starts + 1} starts under ${key} from ${first} to ${event.at}, which may have ${rate.starts} in ${rate.perSeconds} s`)
      }
      const { orderingKey } = task.facts
      const ahead = shadow.tasks.find((each) => each.facts.orderingKey === orderingKey && each.facts.number < task.facts.number && !shadow.isEnded(each))
      holds(orderingKey === undefined || ahead === undefined, `${event.data.task} starts before ${ahead?.facts.task} is finished, with ordering key ${orderingKey}`)
    },
    step: ({ shadow, state, isCloseLook }, _, decided) => {
      for (const event of decided) count(starts, event, shadow.task('task' in event.data ? event.data.task : ''))
      // A rate that is set again counts from then on.
      if (decided.some(isAboutLimits)) starts = new Map()
      if (!isCloseLook) return
      const expected = [...shadow.limits.set].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, limit]) => {
        if (key.endsWith('*')) return { key, ...limit }
        const live = shadow.tasks.filter((each) => shadow.isHeld(each) && limitKeysOf(each.facts).includes(key)).length
        const shutUntil = shadow.limits.shut.get(key)
        return { key, ...limit, live, ...(shutUntil === undefined ? {} : { shutUntil }) }
      })
      same(limitsOf(state), expected, 'limits')
    },
  }
}

const isAboutLimits = ({ type }: QueueEvent): boolean => type === 'LimitSet' || type === 'LimitRemoved' || type === 'QueueDeleted'

const count = (starts: Map<string, Array<number>>, event: QueueEvent, task: ShadowTask | undefined): void => {
  if (event.type !== 'Claimed' || task === undefined) return
  for (const key of limitKeysOf(task.facts)) starts.set(key, [...(starts.get(key) ?? []), event.at])
}
