/** Collects values that have no field of their own in Daybook. They are kept unchanged in the task's metadata. */
import type { Json, JsonObject } from '@daybook/core'
import type { Given } from './field-names.js'
import { isRecord } from './fields.js'

/** The metadata with one more member. Nothing is overwritten: if there is a member of that name already, the new one gets an underscore. */
export const withMember = (metadata: JsonObject = {}, name: string, value: Json): JsonObject => ({ ...metadata, [freeName(name, (taken) => Object.hasOwn(metadata, taken))]: value })

const freeName = (name: string, isTaken: (name: string) => boolean): string => (isTaken(name) ? freeName(`${name}_`, isTaken) : name)

export class Kept {
  private readonly members: Map<string, Json>

  /** `own` is the task's own metadata. */
  constructor(
    own: Json,
    private readonly say: (what: string) => void,
  ) {
    this.members = new Map(isRecord(own) ? Object.entries(own) : own === null ? [] : [['metadata', own]])
  }

  /** Returns the name in the metadata, see {@link withMember}. */
  keep({ name, value }: Pick<Given, 'name' | 'value'>, what?: string): string {
    const free = freeName(name, (taken) => this.members.has(taken))
    this.members.set(free, value)
    if (what !== undefined) this.say(what)
    return free
  }

  /** Keeps several fields, with one note for all. */
  keepAll(fields: ReadonlyMap<string, Json>): void {
    if (fields.size === 0) return
    for (const [name, value] of fields) this.keep({ name, value })
    this.say(`fields without a place of their own stay in metadata: ${[...fields.keys()].sort().join(', ')}`)
  }

  /** The task's own metadata with the kept values. */
  all(): JsonObject | undefined {
    return this.members.size === 0 ? undefined : (Object.fromEntries(this.members) as JsonObject)
  }
}
