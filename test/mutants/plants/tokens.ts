/** Who may do what. */
import type { Plant } from '../plant.js'

const auth = 'packages/adapters/src/auth/'
const http = 'packages/adapters/src/http/'
const made = ['test/http/made-tokens.test.ts']
const matrix = ['test/http/token-matrix.test.ts']

export const tokenPlants: ReadonlyArray<Plant> = [
  {
    title: 'a start that fails stores the admin token, which nobody has seen',
    file: `${auth}tokens.ts`,
    find: "  return { tokens: tokensOf(tokens, options), made: adminToken",
    replace: "  if (dir !== 'memory') writeTokens(dir, tokens)\n  return { tokens: tokensOf(tokens, options), made: adminToken",
    killedBy: ['test/http/tokens.test.ts'],
    named: 'is made anew if the start failed',
  },
  {
    title: 'a clock that has jumped ahead ends tokens',
    file: 'packages/adapters/src/serve/serve.ts',
    find: 'store, now: daybook.now, warn',
    replace: 'store, warn',
    killedBy: ['test/http/wrong-clock.test.ts'],
  },
  {
    title: 'an expired token is valid',
    file: `${auth}token-log.ts`,
    find: "if (this.hasExpired(entry)) return E.left('expired')",
    replace: '',
    killedBy: matrix,
  },
  {
    title: 'a token may use every queue whose name is in a body',
    file: `${http}serve-route.ts`,
    find: 'if (notForThis !== undefined) return E.left(notForThis)',
    replace: '',
    killedBy: matrix,
  },
  {
    title: 'a worker may enqueue',
    file: `${http}routes/routes.ts`,
    find: "path: `${of}/tasks`, who: ['producer']",
    replace: "path: `${of}/tasks`, who: ['producer', 'worker']",
    killedBy: ['test/docs/tokens.test.ts'],
  },
  {
    title: 'a producer cancels what others enqueued',
    file: `${http}handle/tasks.ts`,
    find: 'metaOf(event.metadata).actor === grant.name',
    replace: "metaOf(event.metadata).actor !== ''",
    killedBy: made,
  },
  {
    title: 'a revoked token goes on watching',
    file: 'packages/adapters/src/http/websocket/server.ts',
    find: 'const forget = grant.onEnd(endToken)',
    replace: 'const forget = grant.onEnd(() => endToken.name)',
    killedBy: made,
  },
  {
    title: 'a token with a limit that this version does not know is valid without it',
    file: `${auth}token-log.ts`,
    find: '    entry.isUnreadable = true\n',
    replace: '',
    killedBy: made,
  },
  {
    title: 'two servers make a token of one name',
    file: `${auth}token-log.ts`,
    find: "this.next === 0 ? 'no_stream' : this.next - 1",
    replace: "'any'",
    killedBy: made,
  },
  {
    title: 'an Idempotency-Key keeps a token in memory',
    file: `${http}serve-route.ts`,
    find: 'handled.right.isSecret === true',
    replace: "handled.right.type === 'none'",
    killedBy: made,
  },
  {
    title: 'a token may be used once more at each edge of its rate',
    file: `${auth}rate.ts`,
    find: 'const aheadMsMax = (burst - 1) * everyMs',
    replace: 'const aheadMsMax = burst * everyMs',
    killedBy: ['test/http/token-rate.test.ts'],
  },
  {
    title: 'the rate of a token is not asked for',
    file: `${http}guard.ts`,
    find: 'if (waitMs > 0) return',
    replace: 'if (waitMs > 1e9) return',
    killedBy: ['test/http/token-rate.test.ts'],
  },
  {
    title: 'the client gives up when its token was used too often',
    file: 'packages/client/src/transport/retry.ts',
    find: "'overloaded', 'too-many-requests', 'unavailable'",
    replace: "'overloaded', 'unavailable'",
    killedBy: ['test/http/token-rate.test.ts'],
  },
  {
    title: 'a request whose token was revoked while its body came is done',
    file: `${http}server.ts`,
    find: 'if (grant.hasEnded()) return refuse(reply, request, ended, meter)',
    replace: '',
    killedBy: made,
  },
  {
    title: 'a valid token is forgotten when there are many',
    file: `${auth}token-log.ts`,
    find: 'if (this.isValid(entry)) continue',
    replace: '',
    killedBy: made,
  },
  { title: 'the name of the file of tokens is not synced', file: 'packages/adapters/src/auth/tokens.ts', find: '  syncNames(dir)\n', replace: '', killedBy: ['test/stores/sync-order.test.ts'], named: 'the name of the file of tokens' },
]
