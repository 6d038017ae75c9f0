/** Batches: what they count, when they are finished, who joins them, and what becomes of their callbacks. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const rules = ['test/core/batches.test.ts']

export const batchPlants: ReadonlyArray<Plant> = [
  { title: 'batch: a rollback keeps what it counted', file: `${core}state/tables.ts`, find: 'if (status !== task.status && this.batches.size > 0) this.batches.moved(', replace: 'if (status !== task.status && !this.undoLog.isUndoing) this.batches.moved(', killedBy: rules },
  { title: 'batch: a rollback keeps a task that was never there', file: `${core}state/tables.ts`, find: 'if (this.batches.size > 0) this.batches.moved(task, task.status, undefined)', replace: '', killedBy: rules },
  { title: 'batch: a dead letter does not hold it', file: `${core}state/batches.ts`, find: "(on === 'settled' || cancelled !== null ||", replace: "(on !== 'settled' || cancelled !== null ||", killedBy: rules },
  { title: 'batch: what waits for a guardian does not hold it', file: `${core}state/batches.ts`, find: '(deadLetters === 0 && approvals === 0)', replace: 'deadLetters === 0', killedBy: rules },
  { title: 'batch: an open one is taken for closed by whoever sends it without open', file: `${core}decide/batches.ts`, find: 'command.open !== true && known.closedAt === 0', replace: 'false', killedBy: rules },
  { title: 'batch: it is finished while it is open', file: `${core}state/batches.ts`, find: '  closedAt > 0 && open === 0', replace: '  open === 0', killedBy: rules },
  { title: 'batch: a task of an earlier batch with the same id is counted', file: `${core}state/batches.ts`, find: 'batch !== undefined && revision > batch.revision ? batch', replace: 'batch !== undefined ? batch', killedBy: rules },
  { title: 'batch: one that was cut off is never finished', file: `${core}decide/tick.ts`, find: 'if (batches.isAnyRipe) return 0', replace: '', killedBy: rules },
  { title: 'batch: a tick does not finish what was cut off', file: `${core}decide/index.ts`, find: "command.type === 'Tick'))", replace: 'false))', killedBy: rules },
  { title: 'batch: anybody joins a closed one', file: `${core}decide/joining.ts`, find: 'if (batch.closedAt === 0) return undefined', replace: 'return undefined', killedBy: rules },
  { title: 'batch: a task that is not being worked on adds others', file: `${core}decide/joining.ts`, find: 'parent !== undefined && isHeld(parent) &&', replace: 'parent !== undefined &&', killedBy: rules },
  { title: 'batch: a duplicate of a task outside is taken for one of it', file: `${core}decide/joining.ts`, find: 'known.tables.batches.of(record)?.id === batchId', replace: 'true', killedBy: rules },
  { title: 'batch: the end says the counts before it', file: `${core}decide/batch-ends.ts`, find: 'if (to !== undefined) counts[to]++', replace: "if (to === 'open') counts[to]++", killedBy: rules },
  { title: 'batch: its callback is lost if its id is taken', file: `${core}decide/batch-ends.ts`, find: 'known.byId(task) !== undefined || known.byKey(key) !== undefined) continue', replace: 'known.byId(task) !== undefined) continue', killedBy: rules },
  { title: 'batch: its callback is lost if a dead letter that is sent back takes its key', file: `${core}decide/batch-ends.ts`, find: "event.type === 'Requeued' ? tables.byId.get(event.data.task)?.key", replace: "event.type === 'Requeued' ? tables.byId.get('')?.key", killedBy: rules },
  { title: 'batch: a cancelled one runs its callback', file: `${core}decide/batch-ends.ts`, find: 'runsCallback === true ? batch.callback : null', replace: 'batch.callback', killedBy: rules },
  { title: 'batch: discoveries about other tickets are its work', file: `${core}decide/spawn.ts`, find: 'plan: isElsewhere ? { ...plan, ticketId } : inBatch(plan)', replace: 'plan: inBatch(isElsewhere ? { ...plan, ticketId } : plan)', killedBy: rules },
  { title: 'batch: fixes are not its work', file: `${core}decide/spawn.ts`, find: 'data: factsOfPlan(inBatch(plan), ++number)', replace: 'data: factsOfPlan(plan, ++number)', killedBy: rules },
  { title: 'batch: a restarted task joins one that is finished', file: `${core}decide/restart.ts`, find: 'if (facts.batchId !== undefined && known.tables.batches.joinedBy(task) === undefined) delete facts.batchId', replace: '', killedBy: rules },
  { title: 'batch: it outlives its retention', file: `${core}state/retention.ts`, find: 'if (tables.batches.endedCount > 0) evictBatches(tables, until, max)', replace: '', killedBy: rules },
  { title: 'batch: its tasks are not in a snapshot', file: `${core}state/tables.ts`, find: '      this.batches.enlist(task)\n', replace: '', killedBy: rules },
  { title: 'batch: equal content is compared beyond it', file: 'packages/adapters/src/engine/contents/prepare.ts', find: 'keyed(opening, task.type, task.batchId)', replace: 'keyed(opening, task.type)', killedBy: ['test/http/batches.test.ts'] },
  { title: 'batch: another tenant is told of it', file: 'packages/adapters/src/http/handle/batches.ts', find: 'batch !== undefined && isOwn(tenants, batch.tenant)', replace: 'batch !== undefined', killedBy: ['test/http/batches.test.ts'] },
  { title: 'batch: a finished one waits for a dead letter that is sent back', file: 'packages/adapters/src/http/handle/batches.ts', find: "state === 'finished' || tasks === 0 ?", replace: 'tasks === 0 ?', killedBy: ['test/http/batches.test.ts'] },
  { title: 'batch: a producer cancels that of another', file: 'packages/adapters/src/http/handle/batches.ts', find: "hasRole(grant, 'operator') || (await isEventOf(call, found.right.value.revision))", replace: 'true', killedBy: ['test/http/batches.test.ts'] },
  {
    title: 'what-if: the model enqueues callbacks of batches',
    file: 'packages/projections/src/what-if/model.ts',
    find: 'withoutCallbacks(fork(start), from)',
    replace: 'fork(start)',
    killedBy: ['test/what-if/endings.test.ts'],
    named: 'tasks of batches',
  },
  {
    title: 'what-if: tasks of batches are refused',
    file: 'packages/projections/src/what-if/recorder.ts',
    find: 'restartReason, batchId, callbackOf',
    replace: 'restartReason, callbackOf',
    killedBy: ['test/what-if/endings.test.ts'],
    named: 'tasks of batches',
  },
]
