/** What a command needs from the log before it can be decided: contents of tasks, which are not in the state. */
import { approvalOf, type Command, type CommandOf, type CommandType, contentRevisionOf, incompleteOf, type QueueState, reject, type Replies, type Result } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { errorText } from '../../error-text.js'
import { StoreError } from '../../store/index.js'
import { whyWithheld } from '../../task-keys/index.js'
import type { CommandItem } from '../append/batch.js'
import { withParent } from './findings.js'
import { prepareResult } from './prepare.js'
import { unavailable } from '../refusals.js'
import type { Caller, Outcome, Refusal } from '../types.js'
import { contentOf, parseObject } from '../log/wire.js'

export type Incomplete = NonNullable<ReturnType<typeof incompleteOf>>

export interface Archive {
  readonly state: () => QueueState
  /** The data of the events at these revisions. */
  readonly read: (revisions: ReadonlyArray<number>) => Promise<ReadonlyArray<string | undefined>>
  /** The result with which a task was completed without a report, as text; `undefined` if it is not in the log yet. */
  readonly incompleteResult: (task: Incomplete) => Promise<string | undefined>
}

/** Whether the command needs contents from the log. Most commands do not. */
export const needsGroundwork = (command: Command, state: QueueState): boolean =>
  command.type === 'Approve' || (command.type === 'Complete' && (command.found !== undefined || incompleteBefore(command, state) !== undefined))

/** The task of a completion, if it was completed without a report before. */
export const incompleteBefore = (command: Command, state: QueueState): Incomplete | undefined => (command.type === 'Complete' ? incompleteOf(state, command.task) : undefined)

/** The command with the contents that it needs, or why they cannot be read now. `before`: see {@link incompleteBefore}. Never rejects. */
export const withGroundwork = async <C extends Command>(command: C, before: Incomplete | undefined, archive: Archive): Promise<E.Either<Refusal, C>> => {
  try {
    // Each branch keeps the type of its command.
    if (command.type === 'Complete') {
      const whole = await withFormerResult(command, before, archive)
      return (E.isLeft(whole) ? whole : E.right(await withInheritance(whole.right, archive))) as E.Either<Refusal, C>
    }
    if (command.type === 'Approve') return (await withContents(command, archive)) as E.Either<Refusal, C>
    return E.right(command)
  } catch (error) {
    return E.left(unavailable(`the log cannot be read: ${errorText(error)}`))
  }
}

/**
 * The result together with what was handed in before, without a report (LK-02): whoever hands in the report need not send the rest again. What is given
 * again replaces what was given before.
 */
const withFormerResult = async (command: CommandOf<'Complete'>, before: Incomplete | undefined, { incompleteResult }: Archive): Promise<E.Either<Refusal, CommandOf<'Complete'>>> => {
  if (before === undefined) return E.right(command)
  const former = await unlessDamaged(incompleteResult(before), '{}')
  if (former === undefined) return E.left(unavailable('what was handed in before, without a report, is not in the log yet: try again shortly'))
  const members = whyWithheld(former) === undefined ? parseObject(former) : undefined
  if (members === undefined) return E.right(command)
  const whole = prepareResult({ ...members, ...parseObject(command.content) } as Result)
  if (E.isLeft(whole)) return whole
  if (Buffer.byteLength(whole.right.content) > joinedBytesMax) return E.left(reject('too-large', `the result is over ${joinedBytesMax} bytes together with what was handed in before without a report: send less, or release the task`))
  const { found: _, ...rest } = command
  return E.right({ ...rest, ...whole.right })
}
/** Without a limit, each completion without a report could make the next one larger. */
const joinedBytesMax = 2 ** 20

/** Spawned tasks inherit from the completed task. If its content is damaged, they inherit nothing. */
const withInheritance = async (command: CommandOf<'Complete'>, { state, read }: Archive): Promise<CommandOf<'Complete'>> => {
  const { found, task } = command
  const revision = contentRevisionOf(state(), task)
  if (found === undefined || revision === undefined) return command
  const [data] = await unlessDamaged(read([revision]), [])
  const content = data === undefined ? undefined : contentOf(data)
  return content === undefined ? command : { ...command, found: withParent(found, content) }
}

/** `nothing` if it is damaged: a completion must not fail because of that. */
const unlessDamaged = async <A>(reading: Promise<A>, nothing: A): Promise<A> => {
  try {
    return await reading
  } catch (error) {
    if (error instanceof StoreError && error.code === 'damaged') return nothing
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

/** A command item with a prepared command. `before`: see {@link incompleteBefore}, as of the preparation. */
export class Grounded implements CommandItem {
  readonly kind = 'command'

  constructor(
    readonly item: CommandItem,
    readonly command: Command,
    private readonly before: Incomplete | undefined,
  ) {}

  /** Whether its task was completed without a report, or had another event since, after the command was prepared. */
  static isOutdated(item: CommandItem, state: QueueState): boolean {
    return incompleteBefore(item.command, state)?.last !== (item instanceof Grounded ? item.before?.last : undefined)
  }

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
