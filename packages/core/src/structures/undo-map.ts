import type { UndoLog } from './undo-log.js'

/**
 * A map whose changes can be undone. `replaced` keeps what else depends on its values: it is told what a key had and what it has now, in a rollback as
 * well.
 */
export class UndoMap<T> extends Map<string, T> {
  constructor(
    protected readonly undoLog: UndoLog,
    private readonly onReplaced?: (from: T | undefined, to: T | undefined, key: string) => void,
  ) {
    super()
  }

  protected replaced(from: T | undefined, to: T | undefined, key: string): void {
    this.onReplaced?.(from, to, key)
  }

  /** Gives the key another value; `undefined` removes the key. */
  replace(key: string, to: T | undefined): void {
    const from = this.get(key)
    if (from === to) return
    this.undoLog.note(() => this.replace(key, from))
    if (to === undefined) super.delete(key)
    else super.set(key, to)
    this.replaced(from, to, key)
  }

  override set(key: string, value: T): this {
    this.replace(key, value)
    return this
  }

  override delete(key: string): boolean {
    const had = this.has(key)
    this.replace(key, undefined)
    return had
  }

  override clear(): void {
    for (const key of [...this.keys()]) this.replace(key, undefined)
  }
}
