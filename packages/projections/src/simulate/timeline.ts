/** The order in which things happen to a queue in virtual time. At each moment: first what is due in the queue, then timers, then new input. */
import { Heap } from '@daybook/core'
import type { VirtualQueue } from './virtual-queue.js'

interface Timer {
  readonly at: number
  /** Timers of the same millisecond run in the order in which they were set. */
  readonly order: number
  readonly run: () => void
}

export class Timeline {
  private readonly timers = new Heap<Timer>((a, b) => a.at < b.at || (a.at === b.at && a.order < b.order))
  private order = 0
  private readonly asking: Array<{ readonly ask: () => void }> = []

  constructor(
    private readonly queue: VirtualQueue,
    private readonly until: number,
  ) {}

  /** Sets a timer. One that is due after the end never runs. */
  after(at: number, run: () => void): void {
    if (at < this.until) this.timers.add({ at, order: this.order++, run })
  }

  /** The agent asks for a task as soon as it is its turn. */
  wantsTask(agent: { readonly ask: () => void }): void {
    this.asking.push(agent)
  }

  /** Goes on to the end. `take` is called with each input at its time. Between inputs that are together no agent asks for a task. */
  run<A extends { readonly at: number }>(inputs: ReadonlyArray<A>, take: (input: A, index: number) => void, areTogether: (one: A, next: A | undefined) => boolean = () => false): void {
    const { queue, timers } = this
    for (let next = 0; ; ) {
      const at = Math.min(queue.dueAt, timers.first?.at ?? Number.POSITIVE_INFINITY, inputs[next]?.at ?? Number.POSITIVE_INFINITY)
      if (at >= this.until) return
      queue.at = Math.max(queue.at, at)
      queue.tick()
      this.settle()
      for (let timer = timers.first; timer !== undefined && timer.at <= queue.at; timer = timers.first) {
        timers.removeFirst()
        timer.run()
        this.settle()
      }
      for (let input = inputs[next]; input !== undefined && input.at <= queue.at; input = inputs[++next]) {
        take(input, next)
        if (!areTogether(input, inputs[next + 1])) this.settle()
      }
    }
  }

  /** Waiting claims come before new ones. */
  private settle(): void {
    for (;;) {
      this.queue.serve()
      const agent = this.asking.shift()
      if (agent === undefined) return
      agent.ask()
    }
  }
}
