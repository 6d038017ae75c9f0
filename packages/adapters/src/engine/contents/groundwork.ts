/** What a command needs from the log before it can be decided: contents of tasks, which are not in the state. */
import { approvalOf, type Command, type CommandOf, type CommandType, contentRevisionOf, type QueueState, reject, type Replies } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { StoreError } from '../../store/index.js'
import { whyWithheld } from '../../task-keys/index.js'
import type { CommandItem } from '../append/batch.js'
import { withParent } from './findings.js'
import { describe, unavailable } from '../refusals.js'
import type { Caller, Outcome, Refusal } from '../types.js'
import { contentOf, parseObject } from '../log/wire.js'

export interface Archive {
  readonly state: () => QueueState
  /** The data of the events at these revisions. */
  readonly read: (revisions: ReadonlyArray<number>) => Promise<ReadonlyArray<string | undefined>>
}

/** Whether the command needs contents from the log. Most commands do not. */
export const needsGroundwork = (command: Command): boolean => (command.type === 'Complete' && command.found !== undefined) || command.type === 'Approve'

/** The command with the contents that it needs, or why they cannot be read now. Never rejects. */
export const withGroundwork = async <C extends Command>(command: C, archive: Archive): Promise<E.Either<Refusal, C>> => {
  try {
    // Each branch keeps the type of its command.
    if (command.type === 'Complete') return E.right((await withInheritance(command, archive)) as C)
    if (command.type === 'Approve') return (await withContents(command, archive)) as E.Either<Refusal, C>
    return E.right(command)
  } catch (error) {
    return E.left(unavailable(`the log cannot be read: ${describe(error)}`))
  }
}

/** Spawned tasks inherit from the completed task. If its content is damaged, they inherit nothing: the completion must not fail because of that. */
const withInheritance = async (command: CommandOf<'Complete'>, { state, read }: Archive): Promise<CommandOf<'Complete'>> => {
  const { found, task } = command
  const revision = contentRevisionOf(state(), task)
  if (found === undefined || revision === undefined) return command
  try {
    const [data] = await read([revision])
    const content = data === undefined ? undefined : contentOf(data)
    return content === undefined ? command : { ...command, found: withParent(found, content) }
  } catch (error) {
    if (error instanceof StoreError && error.code === 'damaged') return command
    throw error
  }
}

const withContents = async (command: CommandOf<'Approve'>, { state, read }: Archive): Promise<E.Either<Refusal, CommandOf<'Approve'>>> => {
  const { contents: _, ...asked } = command
  const revision = approvalOf(state(), command.approval)?.revision
  if (revision === undefined) return E.right(asked)
  const [data] = await read([revision])
  const why = data === undefined ? undefined : whyWithheld(contentOf(data) ?? '')
  if (why !== undefined) return E.left(reject('wrong-state', `what ${command.approval} would enqueue cannot be read (${why}), because the task that proposed it was erased or its key is not here: refuse it`))
  return E.right({ ...asked, contents: waitingContents(data) })
}

/** The contents of the tasks in an event about waiting tasks, from the event's data. */
export const waitingContents = (data: string | undefined): ReadonlyArray<string> => {
  const content = data === undefined ? undefined : contentOf(data)
  if (content === undefined) return []
  const { tasks } = parseObject(content) ?? {}
  return Array.isArray(tasks) ? tasks.map((task) => JSON.stringify(task)) : []
}

/** A command item with another command. */
export class Grounded implements CommandItem {
  readonly kind = 'command'

  constructor(
    private readonly item: CommandItem,
    readonly command: Command,
  ) {}

  get caller(): Caller {
    return this.item.caller
  }

  get arrivedAt(): number {
    return this.item.arrivedAt
  }

  settle(outcome: Outcome<Replies[CommandType]>): void {
    this.item.settle(outcome)
  }
}
