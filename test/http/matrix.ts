/** The common part of the token matrices: tokens in each state, a server that knows them, and the operations of its contract. */
import { isRight } from 'fp-ts/lib/Either.js'
import { openTokens, type Tokens } from '@daybook/adapters/auth'
import { openMemoryStore } from '@daybook/adapters/memory'
import { adminToken, type Body, startTestServer, type TestServer } from './support.js'

export const states = ['valid', 'expired', 'revoked'] as const
export type State = (typeof states)[number]

export interface Operation {
  readonly method: string
  readonly path: string
  readonly roles: ReadonlyArray<string>
  readonly forTenants: 'refused' | 'task' | 'own' | 'open'
}

/** A token to make: its limits, and its state when the server answers. */
export interface Wanted extends Pick<Parameters<Tokens['create']>[0], 'roles' | 'queues' | 'tenants'> {
  readonly name: string
  readonly state: State
}

export interface Matrix {
  readonly server: TestServer
  readonly operations: ReadonlyArray<Operation>
  /** By name. */
  readonly made: ReadonlyMap<string, string>
  readonly stop: () => Promise<void>
}

const hour = 3_600_000

export const startMatrix = async (wanted: ReadonlyArray<Wanted>): Promise<Matrix> => {
  let clock = Date.now()
  const store = openMemoryStore()
  const { tokens } = openTokens({ dir: 'memory', adminToken, store, now: () => clock })
  const made = new Map<string, string>()
  for (const { state, ...grant } of wanted) {
    const done = await tokens.create({ ...grant, ...(state === 'expired' ? { expiresAt: clock + hour } : {}) }, { actor: 'admin' })
    if (!isRight(done)) throw new Error(done.left.detail)
    made.set(grant.name, done.right.token)
    if (state === 'revoked') await tokens.revoke(done.right.made.id, 'for the test', { actor: 'admin' })
  }
  clock += 2 * hour
  const server = await startTestServer({ tokens }, store)
  return {
    server,
    operations: operationsOf((await server.get('/api/openapi.json')).body),
    made,
    stop: async () => {
      await server.stop()
      await tokens.close()
    },
  }
}

/** The operations of the contract, without the WebSocket, which has its own tests. A route with GET also has HEAD. */
const operationsOf = ({ paths }: Body): ReadonlyArray<Operation> =>
  Object.entries<Body>(paths)
    .filter(([path]) => path !== '/api/ws')
    .flatMap(([path, item]) =>
      Object.entries<Body>(item).flatMap(([method, operation]) =>
        [method, ...(method === 'get' ? ['head'] : [])].map((each) => ({ method: each.toUpperCase(), path, roles: operation['x-daybook-roles'], forTenants: operation['x-daybook-tenants'] })),
      ),
    )
