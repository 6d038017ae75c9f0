/** INV-30: an amendment records the former and the new values, changes nothing else, and is never made to held or finished tasks. */
import { taskOf, type TaskView } from '@daybook/core'
import type { ShadowTask } from '../support/states/index.js'
import { same } from './look.js'
import { type Checker, holds } from './world.js'

export const amendmentsTell = (): Checker => {
  let before: { readonly task: TaskView; readonly revision: number } | undefined
  return {
    command: ({ shadow, state }, command, decision, { at }) => {
      before = undefined
      if (command.type !== 'AmendTask') return
      const now = Math.max(at, shadow.at)
      const task = shadow.task(command.task, now)
      if (decision._tag === 'Left') {
        const isOpen = task !== undefined && !shadow.isHeld(task) && !shadow.isEnded(task)
        const changesSomething = [command.priority, command.deadlineAt, command.availableAt, command.content].some((given) => given !== undefined)
        return holds(!(isOpen && changesSomething), `${command.task} cannot be amended, though nobody holds it: ${decision.left.detail}`)
      }
      holds(task !== undefined && !shadow.isHeld(task) && !shadow.isEnded(task), `${command.task} is amended, and is ${task?.stage}`)
      const [event] = decision.right
      const known = task as ShadowTask
      const status = shadow.statusOf(known)
      const { priority, deadlineAt = null, availableAt = 0 } = known.facts
      const left = (time: number): number | null => (time > now ? time : null)
      const ready = status === 'scheduled' ? known.delayedUntil : status === 'blocked' ? left(availableAt) : null
      const { priority: wantedPriority = priority, deadlineAt: wantedDeadline = deadlineAt } = command
      const wantedReady = command.availableAt === undefined ? ready : left(command.availableAt ?? 0)
      const changes = {
        ...(wantedPriority === priority ? {} : { priority: wantedPriority, formerPriority: priority }),
        ...(wantedDeadline === deadlineAt ? {} : { deadlineAt: wantedDeadline, formerDeadlineAt: deadlineAt }),
        ...(wantedReady === ready ? {} : { availableAt: wantedReady, formerAvailableAt: ready }),
        ...(command.content === undefined ? {} : { formerContentRevision: known.contentRevision }),
      }
      if (Object.keys(changes).length === 0) return same(decision.right, [], `${command.task} is so already`)
      same(event?.data, { task: command.task, reason: command.reason, ...changes }, `how ${command.task} is amended`)
      before = { task: taskOf(state, command.task) as TaskView, revision: shadow.revision }
    },
    step: ({ state }, command) => {
      if (before === undefined || command?.type !== 'AmendTask') return
      const { task: was, revision } = before
      const now = taskOf(state, was.id) as TaskView
      const { priority, deadlineAt: _, availableAt: __, status, contentRevision, lastRevision: ___, ...rest } = now
      const { priority: ____, deadlineAt: _____, availableAt: ______, status: _______, contentRevision: ________, lastRevision: _________, ...others } = was
      same(rest, others, `the rest of ${was.id}`)
      same(priority, command.priority ?? was.priority, `the priority of ${was.id}`)
      same(contentRevision, command.content === undefined ? was.contentRevision : revision + 1, `where the content of ${was.id} is`)
      if (command.availableAt === undefined) same(status, was.status, `the status of ${was.id}`)
      before = undefined
    },
  }
}
