/** The outbox in PostgreSQL. */
import type { Plant } from '../plant.js'

const at = (file: string): string => `packages/client/src/outbox/${file}`
const outbox = ['test/outbox/outbox.test.ts']
const crash = ['test/outbox/crash.test.ts']

export const outboxPlants: ReadonlyArray<Plant> = [
  { title: 'outbox: a row has a key and no id, so a dead letter is enqueued again', file: at('send.ts'), find: '{ id, idempotencyKey: id, ...task }', replace: '{ idempotencyKey: id, ...task }', killedBy: crash, named: 'between sending and marking' },
  { title: 'outbox: a row has an id and no key, so equal content is a conflict', file: at('send.ts'), find: '{ id, idempotencyKey: id, ...task }', replace: '{ id, ...task }', killedBy: outbox, named: 'of equal content' },
  { title: 'outbox: a row whose task is dead by now counts as refused', file: at('send.ts'), find: "error.code === 'conflict' && taskOf(row).id === row.id", replace: "error.code === 'conflict' && taskOf(row).id !== row.id", killedBy: crash, named: 'between sending and marking' },
  { title: 'outbox: rows are refused for a token that has ended', file: at('send.ts'), find: 'status === 400 ||', replace: 'status === 400 || status === 401 || status === 403 ||', killedBy: outbox, named: 'its token is not for' },
  { title: 'outbox: rows are refused for what a proxy says', file: at('send.ts'), find: "(code !== 'unexpected-answer' && (", replace: '(code.length > 0 && (', killedBy: outbox, named: 'that a proxy has refused' },
  { title: 'outbox: a queue that fails stands before others', file: at('relay.ts'), find: 'resting.names())', replace: '[])', killedBy: outbox, named: 'its token is not for' },
  { title: 'outbox: several relays work at a time', file: at('move-batch.ts'), find: 'pg_try_advisory_xact_lock(${lockKey}, $1::regclass::oid::int)', replace: '($1::regclass::oid::int + ${lockKey} IS NOT NULL)', killedBy: outbox, named: 'one of several' },
  { title: 'outbox: rows that others have locked are waited for', file: at('move-batch.ts'), find: ' FOR UPDATE SKIP LOCKED', replace: ' FOR UPDATE', killedBy: outbox, named: 'leaves a row alone' },
  { title: 'outbox: notifications are not heard', file: at('relay.ts'), find: "connection.on?.('notification', news)", replace: 'void news', killedBy: outbox, named: 'is told of rows' },
  { title: 'outbox: a relay that is stopped while it looks goes to sleep', file: at('relay.ts'), find: ' && !stopping.signal.aborted) await wake', replace: ') await wake', killedBy: outbox, named: 'does not go to sleep' },
  { title: 'outbox: rows are removed outside of the transaction that sends them', file: at('move-batch.ts'), find: 'const rows = await take(db, table, rowsMax, resting)', replace: 'const rows = await take(db, table, rowsMax, resting); await remove(db, table, rows); await db.query(\'COMMIT\')', killedBy: crash, named: 'a relay that is killed' },
  { title: 'outbox: each conflict of a row with its own id counts as sent before', file: at('send.ts'), find: '? await isThere(row.id) : false', replace: '? true : false', killedBy: outbox, named: 'sets aside a row that cannot' },
  { title: 'outbox: a batch that is not there stops the rows behind its row', file: at('send.ts'), find: "(code === 'not-found' && rows", replace: "(code === 'not-found' && [].length > 0 && rows", killedBy: outbox, named: 'sets aside a row that cannot' },
  { title: 'outbox: a payload that is no JSON is written as something else', file: at('outbox.ts'), find: 'taskTextOf(withActiveTrace(sent))', replace: 'JSON.stringify(withActiveTrace(sent))', killedBy: outbox, named: 'no JSON' },
]
