/**
 * Kinds of tasks: tasks of one kind are the same for depth and reports. What happens to them in a batch is counted for the kind, and added to rows at
 * the end of the batch.
 */
import type { TaskRow } from './task-tables.js'

/** `''` for a field without a value. */
export class Kind {
  constructor(
    readonly type: string,
    readonly phase: string,
    readonly tenant: string,
    readonly discovery: string,
  ) {}
}

type Level<V> = Map<string, V>

/** The kinds of a batch. Tasks of the same kind have the same object. */
export class Kinds {
  private readonly known: Level<Level<Level<Level<Kind>>>> = new Map()
  private last = new Kind('', '', '', '')

  of({ type, phase, tenant, discovery }: TaskRow): Kind {
    const { last } = this
    const [phaseName, tenantName, discoveryName] = [phase ?? '', tenant ?? '', discovery ?? '']
    if (last.type === type && last.phase === phaseName && last.tenant === tenantName && last.discovery === discoveryName) return last
    const ofTenant = inner(inner(inner(this.known, type), phaseName), tenantName)
    let kind = ofTenant.get(discoveryName)
    if (kind === undefined) ofTenant.set(discoveryName, (kind = new Kind(type, phaseName, tenantName, discoveryName)))
    return (this.last = kind)
  }

  settle(): void {
    this.known.clear()
    this.last = new Kind('', '', '', '')
  }
}

const inner = <V>(level: Level<Level<V>>, name: string): Level<V> => {
  let found = level.get(name)
  if (found === undefined) level.set(name, (found = new Map()))
  return found
}
