import type { Rows } from './rows.js'

/** The rows of a small table that change in a batch, by their only key column. Each is looked up once and put once. */
export class BatchRows<R> {
  private readonly found = new Map<string, R>()

  constructor(
    private readonly queue: string,
    private readonly rows: Rows<R>,
    private readonly newRow: (name: string) => R,
  ) {}

  /** The row of this name, to be changed. */
  of(name: string): R {
    let row = this.found.get(name)
    if (row === undefined) {
      row = this.rows.get(this.queue, name) ?? this.newRow(name)
      this.rows.put(row)
      this.found.set(name, row)
    }
    return row
  }

  settle(): void {
    this.found.clear()
  }
}
