/**
 * Decides whether a task is a duplicate of another (LK-05). The setting `deduplicate`, of the queue or of the task itself, determines which keys are
 * compared:
 *
 * - `content`: the producer's key; without one, the hash of type and payload.
 * - `key`: only the producer's key.
 * - `off`: none.
 *
 * A task whose key is not compared gets a unique key, so that no two known tasks ever have the same key (INV-7).
 */
import * as E from 'fp-ts/lib/Either.js'
import type { ImportedTask, PreparedTask } from '../model/commands.js'
import { reject, type Rejection } from '../model/rejections.js'
import type { KnownTasks } from '../state/retention.js'
import type { TaskRecord } from '../records/records.js'
import type { Tables } from '../state/tables.js'
import type { TextIndex } from '../structures/text-index.js'

/** The earlier tasks of the same request. */
export interface Earlier<T> {
  readonly byId: TextIndex<T>
  /** The tasks that later tasks may duplicate. */
  readonly byKey: TextIndex<T>
}

/** How a task is enqueued: with the given key, with a unique one, or not at all. */
export type Verdict = 'shared key' | 'own key' | 'duplicate'

/** A duplicate is not an error and emits no event (INV-7). */
export const judge = <T extends PreparedTask | ImportedTask>(
  task: T,
  known: KnownTasks,
  earlier: Earlier<T> | undefined,
  isImport: boolean,
): E.Either<Rejection, Verdict> => {
  const { tables } = known
  const sameId = known.byId(task.id)
  if (sameId !== undefined) return isImport ? duplicate : ofSameId(task, sameId, tables)
  const sameIdHere = earlier?.byId.get(task.id)
  if (sameIdHere !== undefined) {
    if (sameIdHere.idempotencyKey === task.idempotencyKey) return duplicate
    return E.left(reject('conflict', `id ${task.id} stands twice in this request, with different content`))
  }
  if (!isImport && !sharesKey(task, tables)) return ownKey
  const rival = known.byKey(task.idempotencyKey) ?? earlier?.byKey.get(task.idempotencyKey)
  if (rival === undefined) return sharedKey
  if (task.isContentKey !== true || task.isMadeId === true) return duplicate
  // The task has an id of its own, so the producer means another task. An import accepts such tasks.
  return isImport ? ownKey : E.left(sameContent(task, rival))
}
const duplicate = E.right('duplicate' as const)
const sharedKey = E.right('shared key' as const)
const ownKey = E.right('own key' as const)

const sharesKey = ({ deduplicate, isContentKey }: PreparedTask, { head }: Tables): boolean => {
  const mode = deduplicate ?? head.settings.deduplicate
  return mode === 'content' || (mode === 'key' && isContentKey !== true)
}

const ofSameId = (task: PreparedTask, known: TaskRecord, tables: Tables): E.Either<Rejection, Verdict> => {
  const isSame = known.key === task.idempotencyKey || known.key === ownKeyOf(task, known.number)
  if (isSame && tables.byKey.get(known.key)?.number === known.number) return duplicate
  return E.left(
    reject(
      'conflict',
      isSame
        ? `${task.id} is ${known.status} and its id stays taken: enqueue again under another id, or retry the dead letter`
        : `id ${task.id} is taken by a task with other content: use another id`,
    ),
  )
}

const sameContent = (task: PreparedTask, rival: TaskRecord | PreparedTask): Rejection => {
  const other = 'number' in rival ? `${rival.id} (#${rival.number}), which is ${rival.status}` : `${rival.id} in this request`
  return reject(
    'conflict',
    `${task.id} has the same type and payload as ${other}: if it is another task, give it an idempotencyKey of its own, or deduplicate: key; if it is the same, leave its id out`,
  )
}

/** A key has at most 128 characters. This many are left besides `#` and the longest number. */
const baseMax = 111

/** A unique key: the given key and the task's number. */
export const ownKeyOf = ({ idempotencyKey }: Pick<PreparedTask, 'idempotencyKey'>, number: number): string =>
  // Not cut within a surrogate pair, because a lone surrogate could not be written.
  `${idempotencyKey.slice(0, baseMax).replace(/[\ud800-\udbff]$/, '')}#${number}`
