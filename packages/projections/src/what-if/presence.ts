/** When an agent was present and what it could do, as far as the log tells. */
import { type DataOf, isUnder, registrationSeconds } from '@daybook/core'
import type { Abilities, RecordedAgent, Sign } from './recording.js'

/** An unregistered agent counts as present if it is heard of again within this time. */
const graceMs = registrationSeconds * 1_000
/** Workers that stop register for less than this time. */
const goodbyeMs = 1_000

export class Presence {
  private signs: Array<Sign> = []
  private isThere = false
  private heardAt = Number.NEGATIVE_INFINITY
  /** It claimed at the last sign of life, so it was present until after that instant. */
  private hasClaimed = false
  private registered: { readonly abilities: Abilities; readonly ttlMs: number } | undefined
  private holds = 0
  private most = 0
  private readonly types = new Set<string>()
  private readonly skills = new Set<string>()
  /** Of the tasks that it claimed. */
  private readonly tenants = new Set<string | undefined>()

  constructor(private readonly name: string) {}

  /** Begins the period. Earlier signs count only as far as they last into it. */
  begin(from: number): void {
    this.isThere = this.isThere && this.leavesAt > from
    this.signs = this.isThere ? [{ at: from, isThere: true, since: this.heardAt }] : []
    this.most = this.holds
  }

  registers(at: number, { agent, endsAt, ...abilities }: DataOf<'AgentRegistered'>, from: number): void {
    const ttlMs = endsAt - at
    const registers = { type: 'RegisterAgent', agent, ...abilities, ttlSeconds: ttlMs / 1_000 } as const
    if (ttlMs <= goodbyeMs) {
      this.isThere = false
      this.registered = undefined
      this.signs.push({ at, registers, isThere: false })
      return
    }
    this.leaveIfAway(at)
    this.registered = { abilities, ttlMs }
    this.signs.push({ at, registers, isThere: true })
    this.note(at, false, from)
  }

  claimed(at: number, { type, skills = [], tenant }: DataOf<'TaskEnqueued'>, from: number): void {
    this.heard(at, from, true)
    this.types.add(type)
    this.tenants.add(tenant)
    for (const skill of skills) this.skills.add(skill)
    this.holds++
    this.most = Math.max(this.most, this.holds)
  }

  /** A claim of the agent has ended. `wasHeard`: the agent reported the end itself. */
  ended(at: number, wasHeard: boolean, from: number): void {
    if (wasHeard) this.heard(at, from)
    this.holds--
  }

  /** A lease ended without a report. The agent was gone by then, or comes back when it is heard of again. */
  fellSilent(at: number, from: number): void {
    this.ended(at, false, from)
    this.registered = undefined
    if (!this.isThere || this.holds > 0) return
    this.signs.push({ at: this.leavesAt, isThere: false })
    this.isThere = false
  }

  heard(at: number, from: number, isClaim = false): void {
    this.leaveIfAway(at)
    // An agent that has gone may still report its tasks.
    if (this.isThere || isClaim) this.note(at, isClaim, from)
  }

  terminated(at: number): void {
    this.registered = undefined
    this.isThere = false
    this.signs.push({ at, isThere: false })
  }

  /** The recorded agent; `undefined` if it was not present in the period. */
  recorded(until: number): RecordedAgent | undefined {
    const leavesAt = this.registered === undefined && this.heardAt + graceMs >= until ? until : this.leavesAt
    if (this.isThere && leavesAt < until) this.signs.push({ at: leavesAt, isThere: false })
    if (!this.signs.some(({ isThere }) => isThere === true)) return undefined
    const abilities = this.lastRegistered?.abilities ?? this.seenAbilities
    return { name: this.name, abilities, concurrency: Math.max(1, this.most), signs: this.signs }
  }

  /** What the log tells of an agent that is not registered. */
  private get seenAbilities(): Abilities {
    const { types, skills, tenants, name } = this
    const [only] = tenants
    // Where tenants are isolated, an agent with such a name must claim for this tenant.
    const isOfTenant = tenants.size === 1 && only !== undefined && isUnder(only, name)
    return { types: [...types], ...(skills.size === 0 ? {} : { skills: [...skills] }), ...(isOfTenant ? { tenant: only } : {}) }
  }

  private get lastRegistered(): { readonly abilities: Abilities } | undefined {
    if (this.registered !== undefined) return this.registered
    const last = [...this.signs].reverse().find(({ registers, isThere }) => registers !== undefined && isThere === true)?.registers
    if (last === undefined) return undefined
    const { type: _, agent: __, ttlSeconds: ___, ...abilities } = last
    return { abilities }
  }

  /** When the agent leaves, if it is not heard of again. */
  private get leavesAt(): number {
    if (this.holds > 0) return Number.POSITIVE_INFINITY
    return this.registered === undefined ? this.heardAt + (this.hasClaimed ? 1 : 0) : this.heardAt + this.registered.ttlMs
  }

  private leaveIfAway(at: number): void {
    const { leavesAt } = this
    const isAway = this.registered === undefined ? at - this.heardAt > graceMs : at > leavesAt
    if (!this.isThere || this.holds > 0 || !isAway) return
    this.signs.push({ at: leavesAt, isThere: false })
    this.isThere = false
  }

  private note(at: number, isClaim: boolean, from: number): void {
    if (!this.isThere) this.signs.push({ at: at - this.heardAt <= graceMs ? Math.max(from, this.heardAt) : at, isThere: true })
    this.isThere = true
    this.heardAt = at
    this.hasClaimed = isClaim
  }
}
