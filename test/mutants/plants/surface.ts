/** What programs read of a server: metrics and the OpenAPI document. */
import type { Plant } from '../plant.js'

const metrics = ['test/telemetry/metrics.test.ts']
const contract = ['test/http/openapi.test.ts']
const stopping = ['test/http/server.test.ts']
const connections = 'packages/adapters/src/http/connections.ts'
const longAnswers = ['test/http/long-answers.test.ts']
const refusals = ['test/http/contract/refusals.test.ts']

export const surfacePlants: ReadonlyArray<Plant> = [
  { title: 'contract: a task for a closed batch is not said to be refused', file: 'packages/adapters/src/http/routes/routes.ts', find: "'not-found', 'wrong-state'],", replace: "'not-found'],", killedBy: refusals, named: 'does not fit the queue' },
  { title: 'contract: a detail is shown that no server sends', file: 'packages/adapters/src/http/openapi/problem-words.ts', find: 'is taken by a task with other content', replace: 'is known with different content', killedBy: refusals, named: 'details of problems' },
  {
    title: 'a request that offers HTTP/2 is taken for one of a WebSocket',
    file: 'packages/adapters/src/http/may-upgrade.ts',
    find: '? false : this.asks',
    replace: '? this.asks : this.asks',
    killedBy: ['test/http/upgrades.test.ts'],
  },
  {
    title: 'a command with an Idempotency-Key runs again if its caller disconnected',
    file: 'packages/adapters/src/http/serve-route.ts',
    find: 'E.isRight(handled) && handled.right.needsCaller === true && asked.gone().aborted',
    replace: 'asked.gone().aborted',
    killedBy: ['test/http/undelivered.test.ts'],
  },
  {
    title: 'a request whose caller has left stays on its token',
    file: 'packages/adapters/src/http/server.ts',
    find: 'whenClosed(reply, () => {',
    replace: "reply.raw.once('close', () => {",
    killedBy: ['test/http/made-tokens.test.ts'],
  },
  {
    title: 'a queue named in a body is passed over for that of the query',
    file: 'packages/adapters/src/http/serve-route.ts',
    find: 'if (new Set(named).size > 1) return',
    replace: 'if (new Set(named).size > 2) return',
    killedBy: ['test/http/capacity.test.ts'],
  },
  {
    title: 'metrics: a counter that the dashboard shows is gone',
    file: 'packages/adapters/src/http/metrics/metrics.ts',
    find: "  ofEvent('lease_expirations_total', 'Leases that ended by themselves.', 'ClaimExpired')\n",
    replace: '',
    killedBy: metrics,
  },
  {
    title: 'metrics: requests that were refused are not counted by status',
    file: 'packages/adapters/src/http/server.ts',
    find: "  meter.answered(request.method === 'HEAD' ? 'GET' : request.method, routeOf(request), what.status)\n",
    replace: '',
    killedBy: stopping,
    named: 'whoever refused them',
  },
  {
    title: 'metrics: a counter has a name without its unit',
    file: 'packages/adapters/src/http/metrics/metrics.ts',
    find: "counter('refused_total'",
    replace: "counter('refused'",
    killedBy: metrics,
  },
  {
    title: 'OpenAPI: what a request must have is not said to be required',
    file: 'packages/adapters/src/http/openapi/json-schema.ts',
    find: "if (_tag === 'InterfaceType') fields.required.push(key)",
    replace: '',
    killedBy: contract,
  },
  {
    title: 'OpenAPI: numbers have no ranges',
    file: 'packages/adapters/src/http/openapi/json-schema.ts',
    find: 'minimum: Number(range[2]), maximum: Number(range[3])',
    replace: '',
    killedBy: contract,
  },
  {
    title: 'OpenAPI: a refusal without a token does not say how to send one',
    file: 'packages/adapters/src/http/openapi/headers.ts',
    find: "...(status === 401 ? ['WWW-Authenticate'] : [])",
    replace: '',
    killedBy: refusals,
  },
  {
    title: 'OpenAPI: an example shows the answer to another one',
    file: 'packages/adapters/src/http/openapi/example-parts.ts',
    find: 'const answer = recorded[operation]?.[i]',
    replace: 'const answer = recorded[operation]?.[0]',
    killedBy: ['test/http/contract/examples.test.ts', 'test/http/contract/lint.test.ts'],
  },
  { title: 'a refusal names all invalid fields', file: 'packages/core/src/model/rejections.ts', find: 'errors.slice(0, errorsMax)', replace: 'errors', killedBy: ['test/http/bad-input.test.ts'] },
  {
    title: 'long lists that have waited for the same append keep every other request waiting',
    file: 'packages/adapters/src/http/handle/tasks.ts',
    find: '  if (tasks.length > smallPage) await ownTurn()\n',
    replace: '',
    killedBy: ['test/http/streams.test.ts'],
  },
  {
    title: 'streams of logs that are read at the same time keep every other request waiting',
    file: 'packages/adapters/src/own-turn.ts',
    find: '(last = last.then(() => new Promise((resolve) => setImmediate(resolve))))',
    replace: '(last = Promise.resolve())',
    killedBy: ['test/http/streams.test.ts'],
  },
  {
    title: 'any number of streams of logs may be open',
    file: 'packages/adapters/src/http/unread.ts',
    find: 'this.streams >= streamsMax',
    replace: 'this.streams < 0',
    killedBy: ['test/http/streams.test.ts'],
  },
  {
    title: 'a stream of a log counts after its client has gone',
    file: 'packages/adapters/src/http/unread.ts',
    find: 'void this.streams--',
    replace: 'void this.streams',
    killedBy: ['test/http/streams.test.ts'],
  },
  {
    title: 'any number of large answers may wait for clients that do not read',
    file: 'packages/adapters/src/http/unread.ts',
    find: 'this.bytes + length > this.limits.unreadBytesMax',
    replace: 'this.bytes + length > Number.MAX_SAFE_INTEGER',
    killedBy: ['test/http/streams.test.ts'],
  },
  {
    title: 'a large answer counts after its client has gone',
    file: 'packages/adapters/src/http/unread.ts',
    find: '(this.bytes -= length)',
    replace: '(this.bytes -= 0 * length)',
    killedBy: ['test/http/streams.test.ts'],
  },
  { title: 'a server cuts a connection whose answer takes long to make', file: connections, find: "    server.on('timeout', (socket", replace: "    server.on('late', (socket", killedBy: ['test/http/streams.test.ts'] },
  { title: 'a client that reads nothing of a stream keeps its place', file: connections, find: ' || socket.writableLength > 0', replace: '', killedBy: ['test/http/streams.test.ts'], named: 'reads nothing of a stream' },
  { title: 'a server that stops waits for clients that do not read their answers', file: connections, find: ' || socket.writableLength > 0', replace: '', killedBy: stopping },
  { title: 'a server that stops waits for clients that send no more of their request', file: connections, find: 'request?.complete !== true || ', replace: '', killedBy: stopping },
  { title: 'a server that stops cuts clients that read slowly', file: connections, find: 'for (const socket of this.open) socket.setTimeout(stalledMs)', replace: 'setTimeout(() => this.open.forEach((socket) => socket.destroy()), stalledMs)', killedBy: stopping },
  { title: 'a server that stops waits for connections that have had their answer', file: connections, find: 'this.server.closeIdleConnections()', replace: 'undefined', killedBy: stopping },
  { title: 'a server that stops waits for connections on which TLS has not begun', file: connections, find: "    server.on('connection', opened)\n", replace: '', killedBy: ['test/http/tls.test.ts'] },
  { title: 'a server takes requests while its last checkpoint is under way', file: 'packages/adapters/src/serve/serve.ts', find: 'beside.push(() => started.close())\n    }\n    if (persistent ||', replace: 'opened.push(() => started.close())\n    }\n    if (persistent ||', killedBy: ['test/chain/checkpoints.test.ts'] },
  { title: 'failure patterns have no pages', file: 'packages/adapters/src/http/handle/dead-letters.ts', find: 'found.slice(start, end)', replace: 'found', killedBy: longAnswers },
  { title: 'the client has only the first page of failure patterns', file: 'packages/client/src/client.ts', find: 'page.nextCursor === undefined || page.nextCursor === null || (limit', replace: 'page.nextCursor !== undefined || (limit', killedBy: longAnswers },
  { title: 'a state leaves out open breakers', file: 'packages/adapters/src/http/handle/state.ts', find: 'openFirst(breakers).slice', replace: 'breakers.slice', killedBy: longAnswers },
  { title: 'a difference has all events of a breaker', file: 'packages/adapters/src/http/handle/diff.ts', find: 'events.slice(-breakerEventsMax)', replace: 'events', killedBy: longAnswers },
]
