/**
 * Runs a recording through the core in virtual time: with the recorded arrivals, agents and actions of people, and each attempt with its recorded
 * length and end. Deterministic.
 */
import { batchesMax, batchesOf, type Command, evolve, fork, type QueueState, schedulesOf, type SettingsPatch } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import type { Observer } from '../simulate/observer.js'
import { randomOf } from '../simulate/random.js'
import { Timeline } from '../simulate/timeline.js'
import { VirtualQueue } from '../simulate/virtual-queue.js'
import { drawer } from './draw.js'
import { preparedOf } from './recorder.js'
import type { Attempt, RecordedAgent, RecordedTask, Recording } from './recording.js'
import { ReplayAgent, type World } from './replay-agent.js'
import { isEntered, taskPlaces } from './task-places.js'

export interface ModelOptions {
  /** Applied to all settings of the recording, throughout. */
  readonly patch: SettingsPatch
  readonly agents: ReadonlyArray<RecordedAgent>
  /** The pool of an agent. */
  readonly poolOf: (agent: RecordedAgent) => number
  readonly seed: number
}

export interface ModelNotes {
  /** Number of attempts that had to be drawn because they were not recorded. */
  readonly drawn: number
  /** Number of actions that the queue refused because its state differed from reality, by command. */
  readonly refused: Readonly<Record<string, number>>
}

export const runModel = (recording: Recording, options: ModelOptions, observer: Observer): ModelNotes => new Model(recording, options, observer).run()

class Model {
  private readonly queue: VirtualQueue
  private readonly timeline: Timeline
  private readonly places
  private readonly used: Uint32Array
  private readonly draw: (task: RecordedTask, attempt: number) => Attempt
  private readonly holders = new Map<string, () => void>()
  private readonly children = new Map<string, Array<number>>()
  /** Tasks with dependencies that have not arrived yet. */
  private deferred: Array<number> = []
  private drawn = 0
  private readonly refused = new Map<string, number>()

  constructor(
    private readonly recording: Recording,
    private readonly options: ModelOptions,
    private readonly observer: Observer,
  ) {
    const { from, until, start, tasks } = recording
    this.places = taskPlaces(recording)
    this.used = new Uint32Array(tasks.length)
    this.draw = drawer(tasks, options.seed)
    this.queue = new VirtualQueue(from, (event) => {
      if (isEntered(event)) this.places.enter(event.data.task)
      observer.event(event)
      // The queue took the task away. An agent that reports has let go of it before.
      if (event.type === 'ClaimExpired' || event.type === 'ClaimRevoked' || event.type === 'Cancelled') this.holders.get(event.data.task)?.()
    }, randomOf(options.seed), withoutCallbacks(fork(start), from))
    this.timeline = new Timeline(this.queue, until)
    for (const [index, { parent }] of tasks.entries()) {
      if (parent === undefined) continue
      const known = this.children.get(parent)
      if (known === undefined) this.children.set(parent, [index])
      else known.push(index)
    }
  }

  run(): ModelNotes {
    this.begin()
    this.timeline.run(this.recording.inputs, (input) => {
      if ('tasks' in input) for (const index of input.tasks) this.enqueue(index)
      else this.act(input.command)
    }, areTogether)
    return { drawn: this.drawn, refused: Object.fromEntries([...this.refused].sort()) }
  }

  private begin(): void {
    const { recording: { start, tasks, from }, options: { agents, patch, poolOf }, queue } = this
    // The tasks of schedules are among the recorded arrivals.
    for (const { name } of schedulesOf(start)) queue.attempt({ type: 'RemoveSchedule', name })
    if (Object.keys(patch).length > 0) queue.do({ type: 'Configure', patch })
    const world = this.world()
    const known = new Map(agents.map((agent) => [agent.name, new ReplayAgent(agent, poolOf(agent), world)]))
    for (const { facts, before } of tasks) {
      const held = before?.held
      if (held === undefined) continue
      let agent = known.get(held.agent)
      if (agent === undefined) {
        // The agent only finishes the task that it has.
        const gone: RecordedAgent = { name: held.agent, abilities: {}, concurrency: 1, signs: [] }
        known.set(held.agent, (agent = new ReplayAgent(gone, poolOf(gone), world)))
      }
      agent.resume(facts.task, held)
    }
    const signs = agents.flatMap((agent) => agent.signs.map((sign) => ({ agent, sign }))).sort((a, b) => a.sign.at - b.sign.at || (a.sign.since ?? from) - (b.sign.since ?? from))
    for (const { agent, sign } of signs) this.timeline.after(Math.max(from, sign.at), () => known.get(agent.name)?.sign(sign))
  }

  private world(): World {
    const { queue, observer, recording: { tasks } } = this
    const indexOf = (task: string): number => {
      const index = this.places.of(task)
      if (index === undefined) throw new Error(`task ${task} is in the model, and not in the recording`)
      return index
    }
    const next = (index: number): Attempt => {
      const task = tasks[index] as RecordedTask
      const used = this.used[index] as number
      const recorded = task.attempts[used]
      if (recorded !== undefined && recorded.end.type !== 'unknown') return recorded
      const drawn = this.draw(task, used)
      // The attempt lasts at least as long as it did in reality.
      return recorded === undefined || drawn.ms > recorded.ms ? drawn : { ...drawn, ms: recorded.ms }
    }
    return {
      queue,
      observer,
      after: (at, run) => this.timeline.after(at, run),
      wantsTask: (agent) => this.timeline.wantsTask(agent),
      peek: (task) => next(indexOf(task)),
      begin: (task) => {
        const index = indexOf(task)
        const attempt = next(index)
        const recorded = tasks[index]?.attempts[this.used[index] as number]
        if (recorded === undefined || recorded.end.type === 'unknown') this.drawn++
        this.used[index] = (this.used[index] as number) + 1
        return { index, attempt }
      },
      holds: (task, lost) => void this.holders.set(task, lost),
      letGo: (task) => void this.holders.delete(task),
      completed: (task) => {
        const children = this.children.get(task)
        this.children.delete(task)
        for (const index of children ?? []) this.enqueue(index)
        const deferred = this.deferred
        this.deferred = []
        if (children !== undefined) for (const index of deferred) this.enqueue(index)
        else this.deferred = deferred
      },
    }
  }

  private enqueue(index: number): void {
    const { facts, defaults } = this.recording.tasks[index] as RecordedTask
    const done = this.queue.attempt({ type: 'Enqueue', tasks: [preparedOf(facts, defaults)] })
    if (E.isRight(done)) return
    if (done.left.code === 'unknown-dependency') this.deferred.push(index)
    else this.refuse('Enqueue')
  }

  private act(command: Command): void {
    const { patch } = this.options
    const done = this.queue.attempt(command)
    if (E.isLeft(done)) this.refuse(command.type)
    else if (command.type === 'Configure' && Object.keys(patch).length > 0) this.queue.do({ type: 'Configure', patch })
  }

  private refuse(type: string): void {
    this.refused.set(type, (this.refused.get(type) ?? 0) + 1)
  }
}

/** What one command did to many tasks, such as cancelling all of a type, is recorded task by task: no agent claims in between. */
const areTogether = (one: Recording['inputs'][number], next: Recording['inputs'][number] | undefined): boolean =>
  next !== undefined && 'command' in one && 'command' in next && one.at === next.at && one.command.type === next.command.type

/** The callbacks of batches are among the recorded arrivals. A batch that is finished enqueues none, and its tasks go on. */
const withoutCallbacks = (start: QueueState, at: number): QueueState => {
  const unfinished = (['open', 'closed'] as const).flatMap((state) => batchesOf(start, { state }, batchesMax).batches)
  return unfinished.reduce((state, { id: batch, tasks, completed, cancelled, discarded, deadLetters }) => evolve(state, { type: 'BatchFinished', at, data: { batch, tasks, completed, cancelled, discarded, deadLetters } }), start)
}
