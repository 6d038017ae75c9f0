/** Pages of tasks: what they look at, and what is on them. */
import type { Plant } from '../plant.js'

const search = 'packages/core/src/search/task-search.ts'
const looks = ['test/core/page-cost.test.ts']
const pages = ['test/properties/pages.test.ts']

export const pagePlants: ReadonlyArray<Plant> = [
  { title: 'a page of a type looks at the groups of all types', file: search, find: 'tables.ready.kinds.ofType(type)', replace: "tables.ready.kinds.ofType('*')", killedBy: looks },
  { title: 'a page of a tenant looks at the groups of all tenants', file: search, find: 'fewIn(groupsIn(share?.groups), filter, looks)', replace: 'fewIn(tables.ready.kinds.groups(), filter, looks)', killedBy: looks },
  { title: 'a page of a type and a tenant looks at all tenants of the type', file: search, find: 'else if (tenant === undefined) yield* kind.ready', replace: 'else if (true as boolean) yield* kind.ready', killedBy: looks },
  { title: 'a page is found by a scan if few tasks match', file: search, find: 'looks *= 2', replace: 'looks *= 1', killedBy: looks },
  { title: 'a page is found by sorting if many tasks match', file: search, find: 'looked += 1 + (doesFit ? group.ready : 0)', replace: 'looked += 0', killedBy: looks },
  { title: 'tasks of a page that the lists have given are given again by an index', file: search, find: 'rankOf(task) > passed && matches', replace: 'rankOf(task) > from && matches', killedBy: pages },
  { title: 'few tasks of a page are in no order', file: search, find: '.sort(byRank)', replace: '', killedBy: pages },
  { title: 'the kinds of a type begin one too late', file: 'packages/core/src/ready/ready-kinds.ts', find: 'key < prefix)', replace: 'key <= `${prefix}\n`)', killedBy: pages },
  { title: 'a sorted list finds no place past its first chunk', file: 'packages/core/src/structures/sorted-list.ts', find: 'firstWhere(0, chunks.length,', replace: 'firstWhere(0, Math.min(1, chunks.length),', killedBy: ['test/properties/sorted-list.test.ts'] },
  { title: 'a history has all checkpoints of a long attempt in one answer', file: 'packages/adapters/src/engine/log/history.ts', find: 'if (bytes > bytesMax && events.length > 0) return', replace: 'if (bytes > bytesMax && events.length < 0) return', killedBy: ['test/http/history.test.ts'], named: 'comes in pages' },
]
