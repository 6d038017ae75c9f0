/** Collects values that have no field of their own in Daybook. They are kept unchanged in the task's metadata. */
import type { Json, JsonObject } from '@daybook/core'
import type { Given } from './field-names.js'
import { isRecord } from './fields.js'

export class Kept {
  private readonly members = new Map<string, Json>()

  /** `own` is the task's own metadata. */
  constructor(
    private readonly own: Json,
    private readonly say: (what: string) => void,
  ) {}

  keep({ name, value }: Pick<Given, 'name' | 'value'>, what?: string): void {
    this.members.set(name, value)
    if (what !== undefined) this.say(what)
  }

  /** Keeps several fields, with one note for all. */
  keepAll(fields: ReadonlyMap<string, Json>): void {
    if (fields.size === 0) return
    for (const [name, value] of fields) this.members.set(name, value)
    this.say(`fields without a place of their own stay in metadata: ${[...fields.keys()].sort().join(', ')}`)
  }

  /** The task's own metadata with the kept values. A name that exists already gets an underscore. */
  all(): JsonObject | undefined {
    const { own } = this
    const all = new Map<string, Json>(isRecord(own) ? Object.entries(own) : own === null ? [] : [['metadata', own]])
    for (const [name, value] of this.members) {
      let free = name
      while (all.has(free)) free += '_'
      all.set(free, value)
    }
    return all.size === 0 ? undefined : (Object.fromEntries(all) as JsonObject)
  }
}
