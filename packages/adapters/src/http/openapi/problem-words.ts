/** The meaning of each problem, what to do about it, and an example of its `detail`. */
import type { ProblemCode } from '../problem.js'

export const problemWords: Readonly<Record<ProblemCode, { readonly meaning: string; readonly detail: string }>> = {
  invalid: { meaning: 'Something in the request is wrong. `errors` names each place. Sent again as it is, it is refused again.', detail: 'timeout: must be a number from 0.001 to 315360000, not "soon"' },
  unauthorized: { meaning: 'There is no token, or it is unknown, has expired or was revoked.', detail: 'this token was revoked: ask an admin for another one' },
  forbidden: { meaning: 'The token lacks the role, or is for other queues.', detail: 'this needs the role operator or admin: token ci is producer' },
  'not-found': { meaning: 'There is no such queue, task or other thing, or it is no longer known.', detail: 'no task fix-login in queue builds: it was never enqueued here, or it finished and its retention is over' },
  'method-not-allowed': { meaning: 'The path has other methods: see the header `Allow`.', detail: 'PUT is not possible here, only GET, HEAD, POST' },
  timeout: { meaning: 'The request did not arrive completely in time. Nothing was changed.', detail: 'the request did not arrive completely in time; nothing was changed' },
  conflict: { meaning: 'It does not go together with what is there: another content under the same id or key, or a limit of how many there may be.', detail: 'id fix-login is taken by a task with other content: use another id' },
  'lease-lost': { meaning: 'The caller no longer holds the task: its lease ended, or the task was cancelled. Stop working on it, and do not report its outcome.', detail: 'expired: token 1 is not the newest, 2: stop working on fix-login; do not report its outcome' },
  'wrong-state': { meaning: 'The task, breaker or queue is in a state in which this is not possible.', detail: 'fix-login is completed, which is final' },
  disabled: { meaning: 'A setting of the queue or of the server forbids this.', detail: 'tasks of this queue are not bumped: capacity.bumpAndStart is false' },
  'capacity-exceeded': { meaning: 'No more agents may start.', detail: '11 agents at work, and the limit is 10 and 1 more for bumped tasks: wait for one to end, or raise capacity.maxConcurrentAgents or capacity.overcapLimit' },
  'too-large': { meaning: 'The body, a task, a result or the number of tasks is over its limit. Keep large data elsewhere, or send less at a time.', detail: 'the body is over 4194304 bytes: send its tasks or outcomes in several requests, 1000 in each at most. A single content or result may have 262144 bytes: keep larger data elsewhere and send a reference' },
  'unsupported-media-type': { meaning: 'The body is not JSON.', detail: 'send JSON, with Content-Type: application/json' },
  'unknown-dependency': { meaning: 'A dependency is not in the queue, or will never complete.', detail: 'deploy depends on test, which is not in queue builds: enqueue it first, or before it in the same request' },
  'dependency-cycle': { meaning: 'Tasks depend on each other in a circle.', detail: 'a → b → a: none of these could ever start' },
  'too-many-requests': { meaning: 'The token is used more often than its rate allows. Wait as long as `Retry-After` says.', detail: 'token ci may be used less often: send several tasks or reports in one request, or ask an admin for another rate' },
  'headers-too-large': { meaning: 'The request line and headers are over 16 KiB.', detail: 'the request line and headers are over 16 KiB' },
  internal: { meaning: 'A defect of the server. Its log has more under the correlation id.', detail: 'something went wrong in the server; its log has more under this correlation id' },
  overloaded: { meaning: 'Too many commands wait. Nothing was done: try again after `Retry-After`.', detail: '100000 commands are waiting already: slow down and try again' },
  'read-only': { meaning: 'A newer server has written what this one cannot read. Nothing was done: ask another server, or update this one.', detail: 'read-only: event 41 (TaskMoved, version 2) of the log cannot be read (unknown version), so nothing is decided without it. Update this server to Daybook 0.2.0 or newer; it is 0.1.0. If it can never be read: `daybook serve --past-unreadable builds@41` decides without it' },
  clock: { meaning: "The server's clock is wrong, and would put a wrong time into the log. Nothing was done.", detail: "this server's clock jumped ahead by 25200 s, to 2026-01-05T16:00:00.000Z: commands are refused, so that no wrong time gets into the log. If the clock is wrong, set it right: the server then goes on by itself. If it was wrong before and is right now, restart the server, or start it with --clock-jump off" },
  unavailable: { meaning: 'The store cannot be reached, or the server starts or stops. Nothing was done: try again after `Retry-After`.', detail: 'the server is stopping: try again shortly' },
  'outcome-unknown': { meaning: 'It may have been done: the store did not answer. Look, or send it again if that is harmless.', detail: 'another process changed the queue at the same time: look whether it happened before you try again' },
}
