// A relay in a process of its own, which ends at the step that it is told: `DIES` is a step and its number, such as `after-send 2`.
import { createClient } from '@daybook/client'
import { createOutbox } from '@daybook/client/outbox'
import pg from 'pg'

const { DATABASE_URL, DAYBOOK_URL, DAYBOOK_TOKEN, DIES = '', BATCH_MAX, OUTBOX_TABLE } = process.env
const [step, times] = DIES.split(' ')
let met = 0
/** Ends this process as `kill -9` does. */
const at = (name) => {
  if (name !== step || ++met < Number(times)) return
  process.kill(process.pid, 'SIGKILL')
  // The signal comes at once, but not within this call.
  for (;;);
}

const words = [[/^BEGIN/, 'begin'], [/pg_try_advisory/, 'lock'], [/^WITH locked/, 'take'], [/^DELETE/, 'remove'], [/^COMMIT/, 'commit']]
const pool = new pg.Pool({ connectionString: DATABASE_URL })
const database = {
  connect: async () => {
    const connection = await pool.connect()
    const query = connection.query.bind(connection)
    connection.query = async (text, values) => {
      const [, word] = words.find(([pattern]) => pattern.test(text)) ?? []
      at(`before-${word}`)
      const answer = await query(text, values)
      at(`after-${word}`)
      return answer
    }
    return connection
  },
}
const client = createClient({ url: DAYBOOK_URL, token: DAYBOOK_TOKEN })
const dying = (queue) => ({
  ...queue,
  enqueueAll: async (tasks, options) => {
    at('before-send')
    const sending = queue.enqueueAll(tasks, options)
    // The request is on its way, and nobody hears the answer.
    if (step === 'during-send') setTimeout(() => at('during-send'), 3)
    const answer = await sending
    if (step === 'during-send') await new Promise(() => undefined)
    at('after-send')
    return answer
  },
})
createOutbox({ table: OUTBOX_TABLE }).relay({ database, client: { ...client, in: (name) => dying(client.in(name)) }, batchMax: Number(BATCH_MAX), pollMs: 50 }).start()
