/**
 * An undo log for a state that is updated in place. While a mark is set, every change adds its reverse to the log. Without marks (during replay)
 * nothing is recorded.
 */

/** A record of the state. It is flat and always has all of its fields, so that a copy can be restored. */
export interface Undoable {
  /** The mark for which the record was last copied. It is copied once per mark. */
  savedFor: number
}

/** A point to which the state can be rolled back. Only the oldest mark can be released. A rollback to a mark removes the later ones. */
export interface Mark {
  readonly id: number
  /** Index into the undo log. Dropped entries count. */
  readonly start: number
}

/** The reverse of a change. */
export interface Undo {
  readonly undo: () => void
}

export class UndoLog {
  private undos: Array<Undo> = []
  /** How many entries have been dropped from the front. */
  private dropped = 0
  private readonly marks: Array<Mark> = []
  private lastId = 0
  private undoing = false

  mark(): Mark {
    const mark = { id: ++this.lastId, start: this.dropped + this.undos.length }
    this.marks.push(mark)
    return mark
  }

  /** Drops the oldest mark, and the entries that only a rollback to it would need. */
  release(mark: Mark): void {
    if (this.marks[0] !== mark) throw new Error('only the oldest mark can be released')
    this.marks.shift()
    const next = this.marks[0]
    if (next === undefined) {
      this.dropped += this.undos.length
      this.undos = []
    } else {
      this.undos = this.undos.slice(next.start - this.dropped)
      this.dropped = next.start
    }
  }

  /** Undoes all changes since the mark, and removes it and the later marks. */
  rollback(mark: Mark): void {
    const at = this.marks.indexOf(mark)
    if (at < 0) throw new Error('this mark was released or rolled back before')
    const from = mark.start - this.dropped
    this.undoing = true
    for (let i = this.undos.length - 1; i >= from; i--) (this.undos[i] as Undo).undo()
    this.undoing = false
    this.undos.length = from
    this.marks.length = at
  }

  /** Whether a rollback is under way. */
  get isUndoing(): boolean {
    return this.undoing
  }

  get isRecording(): boolean {
    return this.marks.length > 0
  }

  /** Whether the record must be copied before it changes: true once per mark. */
  mustSave(record: Undoable): boolean {
    // Checked first, because `marks[-1]` is as slow as a lookup in a map.
    if (!this.isRecording || this.undoing) return false
    const mark = this.marks[this.marks.length - 1] as Mark
    if (record.savedFor === mark.id) return false
    record.savedFor = mark.id
    return true
  }

  /** Copies the record before it changes, if it must be. */
  save(record: Undoable): void {
    if (!this.mustSave(record)) return
    const before = { ...record }
    this.note(() => Object.assign(record, before))
  }

  /** Notes the reverse of a change. A reverse may itself call what makes such notes: they are not needed then. */
  note(undo: () => void): void {
    if (this.isRecording && !this.undoing) this.add({ undo })
  }

  /** The same for a change that is known to be recorded. */
  add(undo: Undo): void {
    this.undos.push(undo)
  }
}
