/** Collects the outcomes of many commands of one caller, in order. Answers when all are known. */
import type { Command, CommandType, Replies } from '@daybook/core'
import type { CommandItem } from './batch.js'
import type { Caller, Outcome } from '../types.js'

export type Replied = Outcome<Replies[CommandType]>

export class Bulk {
  private readonly outcomes: Array<Replied>
  private open: number

  constructor(
    readonly commands: ReadonlyArray<Command>,
    readonly caller: Caller,
    readonly arrivedAt: number,
    private readonly resolve: (outcomes: ReadonlyArray<Replied>) => void,
  ) {
    this.outcomes = new Array<Replied>(commands.length)
    this.open = commands.length
  }

  items(): ReadonlyArray<CommandItem> {
    return this.commands.map((command, index) => new BulkItem(command, this, index))
  }

  settle(index: number, outcome: Replied): void {
    this.outcomes[index] = outcome
    if (--this.open === 0) this.resolve(this.outcomes)
  }
}

class BulkItem implements CommandItem {
  readonly kind = 'command'

  constructor(
    readonly command: Command,
    private readonly bulk: Bulk,
    private readonly index: number,
  ) {}

  get caller(): Caller {
    return this.bulk.caller
  }

  get arrivedAt(): number {
    return this.bulk.arrivedAt
  }

  settle(outcome: Replied): void {
    this.bulk.settle(this.index, outcome)
  }
}
