/** Changes to a task that nobody holds. */
import { type CommandOf, type Json, priorityOf } from '@daybook/core'
import { defined, ifDefined } from '../../defined.js'
import { submitWithPayload } from '../../engine/index.js'
import { type Handled, type QueueCall, replyWith } from '../routes/route.js'
import { quote } from '../json/text.js'
import { millisecondsOf } from '../../iso-time.js'
import type { AmendBody } from '../json/wire.js'

export const amendTask = async ({ queue, params, body, caller, limits }: QueueCall<AmendBody>): Promise<Handled> => {
  const { reason, priority, payload, deadlineAt, availableAt } = body
  const { id = '' } = params
  const command: CommandOf<'AmendTask'> = {
    type: 'AmendTask',
    task: id,
    reason,
    ...defined({
      priority: typeof priority === 'string' ? priorityOf[priority] : priority,
      deadlineAt: ifDefined(deadlineAt, timeOf),
      availableAt: ifDefined(availableAt, timeOf),
    }),
  }
  // The payload is checked when it is made canonical.
  const outcome = submitWithPayload(queue, command, payload as Json | undefined, caller, limits.taskBytesMax)
  return replyWith(await outcome, ({ id: task, status, changed }, revision) => `{"id":${quote(task)},"status":"${status}","changed":${JSON.stringify(changed)},"revision":${revision}}`)
}

const timeOf = (time: string | null): number | null => (time === null ? null : millisecondsOf(time))
