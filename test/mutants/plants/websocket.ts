/** Watching a queue over a WebSocket. */
import type { Plant } from '../plant.js'

const server = 'packages/adapters/src/http/websocket/'
const sockets = ['test/http/websocket.test.ts']

export const webSocketPlants: ReadonlyArray<Plant> = [
  {
    title: 'whoever held a cancelled task is shown as working',
    file: `${server}messages.ts`,
    find: 'return agent === undefined ? [ended]',
    replace: 'return agent !== null ? [ended]',
    killedBy: sockets,
    named: 'of a cancelled task that was held',
  },
  {
    title: 'the place of a task is looked up for each client',
    file: `${server}feed.ts`,
    find: 'if (last?.about === about) return last.present',
    replace: '',
    killedBy: sockets,
    named: 'its place is looked up once',
  },
  {
    title: 'nobody is told why the messages of a queue break off',
    file: `${server}server.ts`,
    find: '      failed(error)\n',
    replace: '',
    killedBy: sockets,
    named: 'closed with 1011',
  },
  {
    title: 'a client of another log waits for its revision',
    file: `${server}server.ts`,
    find: 'return first > last + 1 ?',
    replace: 'return first < last - 1_000_000 ?',
    killedBy: sockets,
  },
  {
    title: 'a queued task at capacity has no place',
    file: `${server}feed.ts`,
    find: 'isAtCapacity ? queued.indexOf(task) + 1 || null : ',
    replace: '',
    killedBy: sockets,
  },
  {
    title: 'a client that comes back misses the first event',
    file: `${server}server.ts`,
    find: ': Number(from)\n',
    replace: ': Number(from) + 1\n',
    killedBy: sockets,
  },
  {
    title: 'a watcher that was cut off yields messages twice',
    file: 'packages/client/src/methods/watch.ts',
    find: 'if (message.revision === next && skip > 0) {',
    replace: 'if (skip > 1_000_000) {',
    killedBy: sockets,
  },
  {
    title: 'a watcher that was cut off goes on after the last revision, of which messages may be missing',
    file: 'packages/client/src/methods/watch.ts',
    find: '        next = message.revision\n',
    replace: '        next = message.revision + 1\n',
    killedBy: sockets,
  },
  {
    title: 'pages from elsewhere may use the token of a browser',
    file: `${server}server.ts`,
    find: 'headers.origin !== undefined && !isOwnOrigin(headers.origin, headers.host)',
    replace: 'headers.origin === ""',
    killedBy: sockets,
  },
  {
    title: 'a client that cannot keep up is never closed',
    file: `${server}server.ts`,
    find: 'if (performance.now() > until) {',
    replace: 'if (performance.now() < 0) {',
    killedBy: sockets,
  },
  {
    title: 'a dead letter does not name its agent to a client that begins there',
    file: `${server}feed.ts`,
    find: 'const start = before === undefined && next > 0 ? next - 1 : next',
    replace: 'const start = next',
    killedBy: sockets,
  },
  { title: 'a token that is percent-encoded in a subprotocol is taken as it is', file: 'packages/adapters/src/http/websocket/server.ts', find: 'return decodeURIComponent(token)', replace: 'return token', killedBy: ['test/http/websocket.test.ts'], named: 'percent-encoded' },
  { title: 'a request for a WebSocket whose target is no URL ends the server', file: 'packages/adapters/src/http/websocket/server.ts', find: 'new URL(URL.canParse(url, root) ? url : root, root)', replace: 'new URL(url, root)', killedBy: ['test/http/websocket.test.ts'] },
  { title: 'a refused request for a WebSocket leaves its connection open', file: 'packages/adapters/src/http/websocket/server.ts', find: '() => socket.destroy(),', replace: '() => undefined,', killedBy: ['test/http/websocket.test.ts'] },
  { title: 'Retry-After of a refused request for a WebSocket has a fraction', file: 'packages/adapters/src/http/websocket/server.ts', find: 'retryAfterOf(what.retryAfterSeconds)', replace: 'what.retryAfterSeconds', killedBy: ['test/http/websocket.test.ts'], named: 'whole seconds' },
  { title: 'a handshake of another version is answered by the library', file: 'packages/adapters/src/http/websocket/server.ts', find: "sockets.on('wsClientError'", replace: "sockets.on('wsNoError'", killedBy: ['test/http/websocket.test.ts'], named: 'another version' },
  { title: 'clients that are behind keep every other request waiting', file: 'packages/adapters/src/http/websocket/feed.ts', find: '      if (limit > askedMax) await ownTurn()\n', replace: '', killedBy: ['test/http/websocket.test.ts'] },
]
