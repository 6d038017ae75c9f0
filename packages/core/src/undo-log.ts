/**
 * How a state that is updated in place can be taken back: while a mark is set, every change leaves its
 * reverse in the undo log. Without marks (replay) nothing is recorded and nothing is paid.
 */

/** A record of the state: flat, and always with all of its fields, so that a copy can be put back. */
export interface Undoable {
  /** The mark for which a copy was kept last; a record is copied once per mark. */
  savedFor: number
}

/** A point to which the state can be taken back. Marks form a queue: the oldest is released, or any is rolled back with all later ones. */
export interface Mark {
  readonly id: number
  /** Index into the undo log, counted from its very beginning. */
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

  mark(): Mark {
    const mark = { id: ++this.lastId, start: this.dropped + this.undos.length }
    this.marks.push(mark)
    return mark
  }

  /** Gives up the right to go back to the oldest mark. */
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

  /** Takes back all that happened since the mark, later marks included. */
  rollback(mark: Mark): void {
    const at = this.marks.indexOf(mark)
    if (at < 0) throw new Error('this mark was released or rolled back before')
    const from = mark.start - this.dropped
    for (let i = this.undos.length - 1; i >= from; i--) (this.undos[i] as Undo).undo()
    this.undos.length = from
    this.marks.length = at
  }

  get isRecording(): boolean {
    return this.marks.length > 0
  }

  /** Whether a copy of the record must be kept before it changes; says so once per mark. */
  mustSave(record: Undoable): boolean {
    // Asked first, because to look for what is before an array's first costs as much as a map's lookup.
    if (!this.isRecording) return false
    const mark = this.marks[this.marks.length - 1] as Mark
    if (record.savedFor === mark.id) return false
    record.savedFor = mark.id
    return true
  }

  note(undo: Undo): void {
    this.undos.push(undo)
  }
}
