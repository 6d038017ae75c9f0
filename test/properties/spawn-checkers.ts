/** Checker of what completions spawn. It keeps its own account of discoveries, rounds and approvals, from commands and events only. */
import { type CommandOf, type QueueEvent, type Settings } from '@daybook/core'
import { approvalsOf } from '@daybook/core'
import type { Shadow, ShadowTask } from '../support/states/index.js'
import { json, same } from './look.js'
import { type Checker, holds } from './world.js'

type Arrival = Extract<QueueEvent, { type: 'TaskEnqueued' }>
/** Without the callbacks of batches. */
const arrivals = (events: ReadonlyArray<QueueEvent>): ReadonlyArray<Arrival> => events.flatMap((event) => (event.type === 'TaskEnqueued' && event.data.callbackOf === undefined ? [event] : []))
const rootOf = ({ facts }: ShadowTask): string => facts.rootTaskId ?? facts.task

/** The kinds of discoveries that must be spawned, in order, and whether a guardian must approve. */
const expected = (settings: Settings, task: ShadowTask, { discoveries }: NonNullable<CommandOf<'Complete'>['found']>): ReadonlyArray<readonly [string, boolean]> =>
  discoveries
    .filter(({ kind }) => Object.hasOwn(settings.discoveries, kind))
    .slice(0, settings.loops.maxSpawned)
    .map(({ kind, ticketId }) => [kind, (ticketId !== undefined && ticketId !== task.facts.ticketId) || (task.facts.generation ?? 0) >= settings.loops.maxGenerations])

/** INV-29: findings of a completion are spawned once: with the completion, by a guardian, or not at all. A chain that goes in circles is halted. */
export const spawnedOnce = (): Checker => {
  const ever = new Set<string>()
  const open = new Map<string, ReadonlyArray<string>>()
  /** Failures of each chain since it began, or was released: alike if type and error are. */
  const failures = new Map<string, ReadonlyArray<string>>()
  /** Roots whose id another task got later. When their counts began anew depends on when the chain was evicted, so they are not checked. */
  const used = new Set<string>()
  /** The types of tasks, taken from events, because after a rollback a checker only gets events. */
  const types = new Map<string, string>()
  const failureOf = (task: string, error: string): string => `${types.get(task) ?? ''}: ${error}`

  const ofCompletion = (shadow: Shadow, command: CommandOf<'Complete'>, events: ReadonlyArray<QueueEvent>): void => {
    const { found, task: id } = command
    const spawned = arrivals(events)
    if (found === undefined || !events.some(({ type }) => type === 'Completed')) return same(spawned.length, 0, `spawned by ${id}`)
    const task = shadow.tasks.find(({ facts }) => facts.task === id) as ShadowTask
    const { settings } = shadow
    for (const { data } of spawned) {
      same([data.parentTaskId, data.rootTaskId, data.tenant, data.ticketId], [id, rootOf(task), task.facts.tenant, task.facts.ticketId], 'what a spawned task inherits')
    }
    const proposals = events.flatMap((event) => (event.type === 'SpawnProposed' ? event.data.tasks.map(({ discovery }) => discovery) : []))
    const wanted = expected(settings, task, found)
    same(spawned.flatMap(({ data: { discovery } }) => (discovery === 'validation_failed' ? [] : [discovery])), wanted.flatMap(([kind, waits]) => (waits ? [] : [kind])), `discoveries of ${id}`)
    same(proposals, wanted.flatMap(([kind, waits]) => (waits ? [kind] : [])), `proposals of ${id}`)
    const fixes = spawned.filter(({ data }) => data.discovery === 'validation_failed')
    if (found.validation === undefined) return same(fixes.length, 0, 'fixes of nothing')
    const failure = failureOf(id, found.validation.error)
    if (used.has(rootOf(task))) return
    const before = failures.get(rootOf(task)) ?? []
    const isHalted = [...before, failure].filter((other) => other === failure).length >= settings.loops.repeatSignatureLimit || before.length >= settings.loops.maxRounds
    same([fixes.length, events.filter(({ type }) => type === 'LoopHalted').length], isHalted ? [0, 1] : [2, 0], `fixes of ${id} after ${json(before)}`)
    if (!isHalted) same(fixes[1]?.data.dependencies, [fixes[0]?.data.task], 'what the re-check waits for')
  }

  return {
    command: ({ shadow }, command, decision) => {
      if (decision._tag === 'Left') return
      if (command.type === 'Complete' && decision.right.length > 0) ofCompletion(shadow, command, decision.right)
      if (command.type === 'Approve') same(arrivals(decision.right).map(({ data }) => data.task), open.get(command.approval) ?? ['none'], `approved by ${command.approval}`)
      if (command.type === 'Refuse') same(arrivals(decision.right).length, 0, 'enqueued although refused')
    },
    note: (event) => {
      switch (event.type) {
        case 'TaskImported':
          types.set(event.data.task, event.data.type)
          return
        case 'TaskEnqueued':
          types.set(event.data.task, event.data.type)
          if (failures.has(event.data.task)) used.add(event.data.task)
          if (event.data.rootTaskId === undefined) return
          holds(!ever.has(event.data.task), `${event.data.task} is spawned twice`)
          ever.add(event.data.task)
          return
        case 'ValidationFailed':
          failures.set(event.data.root, [...(failures.get(event.data.root) ?? []), failureOf(event.data.parent, event.data.error)])
          return
        case 'GuardianReleased':
          failures.delete(event.data.root)
          open.delete(event.data.approval)
          return
        case 'SpawnProposed':
        case 'LoopHalted':
          open.set(event.data.approval, event.data.tasks.map(({ task }) => task))
          return
        case 'SpawnApproved':
        case 'SpawnRefused':
          open.delete(event.data.approval)
          return
        case 'QueueDeleted':
          open.clear()
          return
        default:
      }
    },
    step: ({ state, shadow, isCloseLook }) => {
      if (!isCloseLook) return
      const dead = new Set(shadow.tasks.flatMap(({ stage, facts }) => (stage === 'dead-letter' ? [facts.task] : [])))
      const waiting = approvalsOf(state)
      for (const { id, kind, parent } of waiting) holds(open.has(id) && (kind !== 'dead-letter' || dead.has(parent)), `${id} waits for nothing`)
      const shown = new Set(waiting.map(({ id }) => id))
      for (const [id, tasks] of open) holds(shown.has(id) || tasks.length === 0, `${id} was forgotten`)
    },
  }
}
