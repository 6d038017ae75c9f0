// Checks what a fleet did against the queue's own log. Used by work-a-fleet.sh:
//   node examples/check-fleet.mjs FOLDER-OF-QUEUE-FILES
// DAYBOOK_URL, DAYBOOK_TOKEN and DAYBOOK_QUEUE name the queue. No dependencies.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const { DAYBOOK_URL: url, DAYBOOK_TOKEN: token, DAYBOOK_QUEUE: queue } = process.env;
const [folder] = process.argv.slice(2);
const problems = [];
const check = (holds, problem) => {
  if (!holds) problems.push(problem);
};

const get = async (path) => {
  const answer = await fetch(`${url}/api/queues/${queue}/${path}`, { headers: { authorization: `Bearer ${token}` } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
};

/** The whole log, in order. */
const readLog = async () => {
  const answer = await fetch(`${url}/api/queues/${queue}/events`, {
    headers: { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' },
  });
  if (!answer.ok) throw new Error(`events: ${answer.status} ${await answer.text()}`);
  return (await answer.text()).split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
};

// 1. The log, checked against a naive model of a priority queue with dependencies: within a priority, by the parts of the
// score in which these tasks differ (how many others wait for a task, and its age), then first in, first out.
const scoreOf = (task, at) => {
  const waiting = [...tasks.values()].filter((other) => other.state !== 'completed' && other.dependencies.includes(task.id)).length;
  return 0.15 * Math.min(waiting / 10, 1) + 0.2 * Math.min((at - task.enqueuedAt) / 3_600_000, 1);
};
const order = (at) => (a, b) => {
  const difference = scoreOf(b, at) - scoreOf(a, at);
  return b.priority - a.priority || (Math.abs(difference) > 1e-9 ? difference : 0) || a.enqueuedAt - b.enqueuedAt || a.number - b.number;
};
const tasks = new Map();
const log = await readLog();
let claims = 0;
for (const { revision, type, at, data } of log) {
  if (type === 'TaskEnqueued') {
    tasks.set(data.task, { id: data.task, priority: data.priority, number: data.number, dependencies: data.dependencies ?? [], enqueuedAt: Date.parse(at), state: 'open' });
  } else if (type === 'Claimed') {
    claims += 1;
    const isReady = (task) => task.state === 'open' && task.dependencies.every((id) => tasks.get(id)?.state === 'completed');
    const ready = [...tasks.values()].filter(isReady);
    const [best] = ready.sort(order(Date.parse(at)));
    check(best?.id === data.task, `revision ${revision}: ${data.task} was claimed, but ${best?.id ?? 'nothing'} was the most urgent one ready`);
    tasks.get(data.task).state = 'claimed';
  } else if (type === 'Completed') {
    const task = tasks.get(data.task);
    check(task?.state === 'claimed', `revision ${revision}: ${data.task} was completed without being claimed`);
    task.state = 'completed';
  } else if (type !== 'QueueConfigured' && type !== 'AgentRegistered') {
    check(false, `revision ${revision}: ${type} was not expected when all goes well`);
  }
}
const done = [...tasks.values()].filter((task) => task.state === 'completed');
check(done.length === tasks.size, `${tasks.size - done.length} of ${tasks.size} tasks were not completed`);
check(claims === tasks.size, `${claims} claims for ${tasks.size} tasks: some were claimed twice, or never`);

// 2. The views and the files: they must show the same tasks with the same status.
const files = {
  'pending.json': 'pending,scheduled,blocked',
  'in-progress.json': 'in-progress,incomplete',
  'completed.json': 'completed',
  'dead-letter.json': 'dead-letter',
  'cancelled.json': 'cancelled,discarded',
};
const read = (name) => JSON.parse(readFileSync(join(folder, name), 'utf8'));
// Files are replaced one after the other, and a slow disk takes its time for each: all must have come to the end of the log.
const last = log.at(-1).revision;
const isBehind = (name) => read(name).revision < last;
for (let tries = 0; tries < 600 && Object.keys(files).some(isBehind); tries += 1) {
  await new Promise((resolve) => setTimeout(resolve, 50));
}
const idsOf = (list) => list.map(({ id }) => id).sort().join(' ');
for (const [name, status] of Object.entries(files)) {
  const view = await get(`tasks?status=${status}&limit=1000`);
  const file = read(name);
  check(file.revision === view.revision, `${name} shows revision ${file.revision}, the view ${view.revision}`);
  check(idsOf(file.tasks) === idsOf(view.tasks), `${name} and the view differ: [${idsOf(file.tasks)}] and [${idsOf(view.tasks)}]`);
  check(file.total === view.tasks.length, `${name} counts ${file.total} tasks, the view has ${view.tasks.length}`);
}
for (const task of read('completed.json').tasks) {
  check(task.result?.decisionReport !== undefined, `${task.id} is in completed.json without its decision report`);
}

for (const problem of problems) console.error(`- ${problem}`);
console.log(`${tasks.size} tasks, ${claims} claims, ${log.length} events: ${problems.length === 0 ? 'no disagreement' : `${problems.length} disagreements`}`);
process.exitCode = problems.length === 0 ? 0 : 1;
