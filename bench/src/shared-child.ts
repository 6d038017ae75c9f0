/** One of several processes on one queue: enqueues, claims and completes until it is stopped. Arguments: store, queue, folder. */
import { once } from 'node:events'
import { prepareTask, type QueueEngine } from '@daybook/adapters/engine'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { newTask, nowMs } from './measure.js'
import { caller, openQueue, right } from './queue.js'

const callers = 64

const [spec = '', queue = '', folder = ''] = process.argv.slice(2)
const store = spec.startsWith('sqlite:') ? await openSqliteStore({ file: spec.slice('sqlite:'.length), sharing: 'shared' }) : openEventStoreDb({ url: spec })
const { daybook, engine } = await openQueue(folder, { store, queue })
const answers: Array<number> = []
let isOver = false

/** Enqueues, claims and completes in a loop; a claimed task may be another caller's. */
const work = async (on: QueueEngine, agent: string): Promise<void> => {
  const answered = async <A>(outcome: Promise<A>): Promise<A> => {
    const answer = await outcome
    answers.push(nowMs())
    return answer
  }
  while (!isOver) {
    const task = newTask()
    const own = { ...task, payload: { ...task.payload, process: process.pid } }
    right(await answered(on.submit({ type: 'Enqueue', tasks: [right(prepareTask(own))] }, caller)))
    for (const { task: id, token } of right(await answered(on.claim({ type: 'Claim', agent, max: 1 }, caller))).value) {
      right(await answered(on.submit({ type: 'Complete', task: id, agent, token, content: '{}', hasReport: true }, caller)))
    }
  }
}

process.send?.('ready')
const working = Array.from({ length: callers }, (_, i) => work(engine, `${process.pid} ${i}`))
await once(process, 'message')
isOver = true
await Promise.all(working)
await daybook.close()
await new Promise((resolve) => process.send?.(answers, resolve))
process.disconnect()
