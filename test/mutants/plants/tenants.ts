/** Tenants that know nothing of each other. */
import type { Plant } from '../plant.js'

const core = ['test/core/isolation.test.ts']
const told = ['test/http/tenant-matrix.test.ts']
const between = ['test/http/non-interference.test.ts']

export const tenantPlants: ReadonlyArray<Plant> = [
  {
    title: 'tenants: keys are not kept apart',
    file: 'packages/core/src/isolation.ts',
    find: 'idempotencyKey: under(tenant, task.idempotencyKey),',
    replace: '',
    killedBy: core,
  },
  {
    title: 'tenants: an id of another tenant is taken',
    file: 'packages/core/src/isolation.ts',
    find: 'over !== undefined && over !== tenant) {',
    replace: 'false) {',
    killedBy: core,
  },
  {
    title: "tenants: a task may depend on another tenant's",
    file: 'packages/core/src/decide/enqueue.ts',
    find: 'isIsolated(tables) && tenant !== task.tenant',
    replace: 'isIsolated(tables) && tenant === undefined',
    killedBy: core,
  },
  {
    title: 'tenants: a queue with tasks is isolated',
    file: 'packages/core/src/decide/index.ts',
    find: 'patched.tenants !== settings.tenants && !isEmpty(tables, at)',
    replace: 'false',
    killedBy: core,
  },
  {
    title: "tenants: another tenant's task is looked at",
    file: 'packages/adapters/src/http/serve-route.ts',
    find: 'task !== undefined && isOwn(grant.tenants, task.tenant) ? task',
    replace: 'task !== undefined ? task',
    killedBy: told,
    named: 'TEN-3',
  },
  {
    title: 'tenants: a queue that is not isolated is answered',
    file: 'packages/adapters/src/http/serve-route.ts',
    find: "settings.tenants !== 'isolated'",
    replace: 'false',
    killedBy: told,
    named: 'TEN-2: a queue that is not isolated',
  },
  {
    title: 'tenants: reasons tell of others',
    file: 'packages/adapters/src/http/reasons.ts',
    find: 'ofTask.has(reason.code) ? reason',
    replace: 'true ? reason',
    killedBy: told,
    named: 'TEN-5',
  },
  {
    title: "tenants: reports about another tenant's tasks are taken",
    file: 'packages/adapters/src/http/handle/work.ts',
    find: 'task !== undefined && isOwn(tenants, task.tenant)',
    replace: 'task !== undefined',
    killedBy: between,
    named: 'the same if another one does the same',
  },
  {
    title: 'tenants: a list is not cut',
    file: 'packages/adapters/src/http/handle/tasks.ts',
    find: 'pageOfTasks(queue, filterOf(asked.right), query, limits)',
    replace: 'pageOfTasks(queue, filterOf(query), query, limits)',
    killedBy: between,
    named: 'the same if another one does the same',
  },
  {
    title: 'tenants: patterns are not cut',
    file: 'packages/adapters/src/http/handle/dead-letters.ts',
    find: 'deadLetterPatterns(state, filter, tenant)',
    replace: 'deadLetterPatterns(state, filter)',
    killedBy: between,
    named: 'the same if another one does the same',
  },
  {
    title: "tenants: a callback is another tenant's",
    file: 'packages/core/src/isolation.ts',
    find: "tooLong('callbackKey', tenant) : under(tenant, key)",
    replace: "tooLong('callbackKey', tenant) : key",
    killedBy: core,
  },
  {
    title: 'tenants: memories come with claims in an isolated queue',
    file: 'packages/adapters/src/memory-bank/service.ts',
    find: 'if (await isIsolated(queue)) return nothing',
    replace: '',
    killedBy: ['test/memory-bank/memory.test.ts'],
    named: 'TEN-1',
  },
]
