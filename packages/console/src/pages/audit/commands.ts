/** Commands of people and services, from the events that they became. No browser needed. */
import type { EventPage, HistoryEvent } from '@daybook/client'

export interface Command {
  /** Of its first event. */
  readonly revision: number
  readonly at: string
  readonly actor: string
  readonly correlationId: string | undefined
  /** Its kinds of events, each with how many, in their order. */
  readonly events: ReadonlyArray<readonly [type: string, count: number]>
  /** The tasks that they are about, without repetition. */
  readonly tasks: ReadonlyArray<string>
  /** What else they are about: a type, an agent, a limit, a schedule. */
  readonly subject: string | undefined
  readonly reason: string | undefined
}

/** What people decide. All else that has an actor is work: what producers enqueue, and what agents claim and report. */
const decisions: ReadonlySet<string> = new Set([
  'TaskAmended', 'TaskBumped', 'TaskErased', 'TaskImported', 'Cancelled', 'Requeued', 'Snoozed', 'Escalated', 'Discarded', 'RedriveStarted', 'RedriveStopped', 'SpawnApproved', 'SpawnRefused',
  'GuardianReleased', 'ScheduleSet', 'ScheduleRemoved', 'LimitSet', 'LimitRemoved', 'AgentTerminated', 'QueueConfigured', 'QueuePaused', 'QueueResumed', 'QueueDeleted',
])

/** A breaker that a person opened or closed says so; a task that was restarted is a new one that names the old one. */
const isDecision = ({ type, data }: HistoryEvent): boolean => decisions.has(type) || (type.startsWith('Breaker') && data['cause'] === 'manual') || data['restartOf'] !== undefined

export interface CommandFilter {
  readonly actor?: string
  readonly task?: string
  /** Also what is enqueued, claimed and reported. */
  readonly withWork: boolean
}

/** The actor of what the queue does by itself, when a time has come. No token can have this name. */
export const isQueueItself = (actor: string | undefined): boolean => actor === undefined || actor === 'daybook'

/** Whether an event is of a command that is asked for. */
export const isAsked = (event: HistoryEvent, { withWork }: CommandFilter): boolean => !isQueueItself(event.actor) && (withWork || isDecision(event))

const textIn = (data: HistoryEvent['data'], ...names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) if (typeof data[name] === 'string') return data[name]
  return undefined
}

const isSame = (command: Command, { actor, correlationId, at }: HistoryEvent): boolean => command.actor === actor && command.correlationId === correlationId && command.at === at

/** Events of one command follow each other, and have its correlation id and its time. */
export const commandsOf = (events: ReadonlyArray<HistoryEvent>): ReadonlyArray<Command> => {
  const found: Array<Command> = []
  for (const event of events) {
    const { revision, type, at, actor = '', correlationId, data } = event
    const last = found.at(-1)
    const task = textIn(data, 'task')
    if (last !== undefined && isSame(last, event)) {
      const count = last.events.find(([name]) => name === type)?.[1]
      found[found.length - 1] = {
        ...last,
        events: count === undefined ? [...last.events, [type, 1]] : last.events.map((each) => (each[0] === type ? ([type, count + 1] as const) : each)),
        tasks: task === undefined || last.tasks.includes(task) ? last.tasks : [...last.tasks, task],
        reason: last.reason ?? textIn(data, 'reason'),
      }
    } else {
      found.push({
        revision, at, actor, correlationId, events: [[type, 1]], tasks: task === undefined ? [] : [task],
        subject: task === undefined ? (textIn(data, 'taskType', 'agent', 'limit', 'name', 'approval') ?? patched(data)) : undefined, reason: textIn(data, 'reason'),
      })
    }
  }
  return found
}

/** Which settings a command changed. */
const patched = ({ patch }: HistoryEvent['data']): string | undefined => (typeof patch === 'object' && patch !== null ? Object.keys(patch).join(', ') : undefined)

export interface FoundCommands {
  readonly events: ReadonlyArray<HistoryEvent>
  /** Where to go on; `null` at the end of the period. */
  readonly next: number | null
}

const requestsMax = 20

/**
 * Reads the log from a place on until enough is found, the period ends, or so much was read that whoever waits should hear of it. Events that do not match are left
 * out here, because the API filters by actor and task, not by what people decide.
 */
export const findCommands = async (read: (from: string) => Promise<EventPage>, from: string, enough: number, filter: CommandFilter): Promise<FoundCommands> => {
  const events: Array<HistoryEvent> = []
  let next: string = from
  for (let requests = 0; requests < requestsMax; requests++) {
    const page = await read(next)
    for (const event of page.events) {
      if (!isAsked(event, filter)) continue
      // The events of a command are not torn apart.
      if (events.length >= enough && (events.at(-1)?.correlationId !== event.correlationId || event.correlationId === undefined)) return { events, next: event.revision }
      events.push(event)
    }
    if (page.next === null) return { events, next: null }
    next = String(page.next)
  }
  return { events, next: Number(next) }
}

const columns = ['revision', 'at', 'actor', 'type', 'task', 'subject', 'reason', 'correlationId'] as const

/** An event as a row of a table; its header first. */
export const csvHeader = columns
export const csvRow = (event: HistoryEvent): ReadonlyArray<unknown> => {
  const [command] = commandsOf([event])
  return [event.revision, event.at, event.actor, event.type, command?.tasks[0], command?.subject, command?.reason, event.correlationId]
}
