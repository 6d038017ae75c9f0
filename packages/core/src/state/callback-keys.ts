/** Which task waits for a callback with a key, or has got it. Keys are unique in a queue. */
import type { Parking, TaskRecord } from '../records/records.js'

export class CallbackKeys {
  private readonly numbers = new Map<string, number>()

  /** The number of the task with this key. */
  numberOf(key: string): number | undefined {
    return this.numbers.get(key)
  }

  add({ number, status }: TaskRecord, { key, answered }: Parking): void {
    for (const each of answered) this.numbers.set(each, number)
    if (status === 'waiting') this.numbers.set(key, number)
  }

  remove({ number, status }: TaskRecord, { key, answered }: Parking): void {
    for (const each of answered) this.drop(each, number)
    if (status === 'waiting') this.drop(key, number)
  }

  private drop(key: string, number: number): void {
    // In a rollback another task may have the key by now.
    if (this.numbers.get(key) === number) this.numbers.delete(key)
  }
}
