/**
 * The dead letters of a queue by failure: one entry for each pair of signature and type. Reading the patterns costs O(patterns), however many dead
 * letters each pattern has.
 */
import { SortedList } from '../structures/sorted-list.js'
import { byNumber, rankOf, type TaskRecord } from '../records/records.js'

/** Empty for a task that has no signature: it was imported, or every agent gave it back. */
export const signatureOf = (task: TaskRecord): string => task.extras.signature ?? ''
const diedAt = (task: TaskRecord): number => task.extras.deadLetter?.at ?? 0

/** Dead letters with the same type and signature. Never empty. */
export interface AlikeDeadLetters {
  readonly signature: string
  readonly type: string
  readonly byRank: SortedList<TaskRecord>
  readonly byTime: SortedList<TaskRecord>
}

export class DeadLetterIndex {
  /** By signature, then by type. */
  private readonly alike = new Map<string, Map<string, AlikeDeadLetters>>()

  /** The task's signature, type and dead-letter time must not change until it is removed. */
  add(task: TaskRecord): void {
    const signature = signatureOf(task)
    const { type } = task.group
    let byType = this.alike.get(signature)
    if (byType === undefined) this.alike.set(signature, (byType = new Map()))
    let alike = byType.get(type)
    if (alike === undefined) {
      alike = { signature, type, byRank: new SortedList(rankOf, byNumber), byTime: new SortedList(diedAt, byNumber) }
      byType.set(type, alike)
    }
    alike.byRank.add(task)
    alike.byTime.add(task)
  }

  remove(task: TaskRecord): void {
    const signature = signatureOf(task)
    const { type } = task.group
    const byType = this.alike.get(signature)
    const alike = byType?.get(type)
    if (byType === undefined || alike === undefined) return
    alike.byRank.remove(task)
    alike.byTime.remove(task)
    if (alike.byRank.size > 0) return
    byType.delete(type)
    if (byType.size === 0) this.alike.delete(signature)
  }

  /** Entries in no particular order; with `signature`, only its entries. */
  *entries(signature?: string): IterableIterator<AlikeDeadLetters> {
    if (signature !== undefined) yield* this.alike.get(signature)?.values() ?? []
    else for (const byType of this.alike.values()) yield* byType.values()
  }
}
