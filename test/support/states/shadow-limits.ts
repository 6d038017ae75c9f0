/** The limits of the naive fold. Every question scans the tasks and the starts that count. */
import type { DataOf, Limit, Rate } from '@daybook/core'

type Facts = DataOf<'TaskEnqueued'>

/** The keys of the limits that count a task: its type, its tenant and its concurrency key. */
export const limitKeysOf = ({ type, tenant, concurrencyKey }: Facts): ReadonlyArray<string> =>
  [`type:${type}`, ...(tenant === undefined ? [] : [`tenant:${tenant}`]), ...(concurrencyKey === undefined ? [] : [concurrencyKey])]

const allLike = (key: string): string => /^(type:|tenant:)?/.exec(key)?.[0] + '*'
const msOf = ({ perSeconds }: Rate): number => Math.ceil(perSeconds * 1_000)

export class ShadowLimits {
  readonly set = new Map<string, Limit>()
  /** By key: all starts since it has a rate, except those that no longer counted when the rate was changed. */
  private readonly starts = new Map<string, ReadonlyArray<number>>()
  /** By key: until when the rate admits no start. An event ends it. */
  readonly shut = new Map<string, number>()

  of(key: string): Limit {
    return this.set.get(key) ?? this.set.get(allLike(key)) ?? {}
  }

  /** Whether another task may start at `at`, if there are `live` leases and the same claim has picked `more` tasks. */
  admits(key: string, live: number, more: number, at: number): boolean {
    const { concurrency = Number.POSITIVE_INFINITY, rate } = this.of(key)
    if (this.shut.has(key) || live + more >= concurrency) return false
    return rate === undefined || this.startsIn(key, rate, at) + more < rate.starts
  }

  startsIn(key: string, rate: Rate, at: number): number {
    return (this.starts.get(key) ?? []).filter((start) => start + msOf(rate) > at).length
  }

  started(key: string, at: number): void {
    const { rate } = this.of(key)
    if (rate === undefined) return
    this.starts.set(key, [...(this.starts.get(key) ?? []), at])
    this.judge(key, at)
  }

  change(key: string, limit: Limit | undefined, at: number): void {
    const known = new Set([...this.starts.keys(), ...this.set.keys()])
    const before = new Map([...known].map((each) => [each, this.of(each).rate]))
    if (limit === undefined) this.set.delete(key)
    else this.set.set(key, limit)
    for (const [each, was] of before) {
      const { rate } = this.of(each)
      if (was?.starts === rate?.starts && was?.perSeconds === rate?.perSeconds) continue
      const counted = was === undefined ? [] : (this.starts.get(each) ?? []).filter((start) => start + msOf(was) > at)
      this.starts.set(each, rate === undefined ? [] : counted.slice(-rate.starts))
      this.judge(each, at)
    }
  }

  clear(): void {
    for (const map of [this.set, this.starts, this.shut]) map.clear()
  }

  private judge(key: string, at: number): void {
    this.shut.delete(key)
    const { rate } = this.of(key)
    if (rate === undefined || this.startsIn(key, rate, at) < rate.starts) return
    const last = (this.starts.get(key) ?? []).slice(-rate.starts)
    this.shut.set(key, (last[0] as number) + msOf(rate))
  }
}
