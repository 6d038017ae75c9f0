/** Webhooks: what is sent, to whom, and how often. */
import type { Plant } from '../plant.js'

const webhooks = 'packages/adapters/src/webhooks/'
const delivery = ['test/webhooks/delivery.test.ts']
const addresses = ['test/webhooks/addresses.test.ts']
const config = ['test/webhooks/config.test.ts']

export const webhookPlants: ReadonlyArray<Plant> = [
  { title: 'an alert that the webhook does not want waits', file: 'packages/adapters/src/webhooks/service.ts', find: "|| receiver.wants({ queue: engine.name, kind: kindOf(data.key) }),", replace: "|| receiver.wants({ queue: engine.name, kind: kindOf(data.key) }) || true,", killedBy: ['test/webhooks/delivery.test.ts'], named: 'does not wait' },
  { title: 'an alert in the log that the webhook does not want waits', file: 'packages/adapters/src/webhooks/service.ts', find: 'mattersInLog: (event) => wantedOf(event) !== undefined,', replace: 'mattersInLog: () => true,', killedBy: ['test/webhooks/delivery.test.ts'], named: 'does not wait' },
  { title: 'webhooks: the time is not signed', file: `${webhooks}signature.ts`, find: '`${id}.${timestamp}.${body}`', replace: '`${id}.${body}`', killedBy: addresses },
  { title: 'webhooks: only the first secret signs', file: `${webhooks}signature.ts`, find: 'secrets.map(', replace: 'secrets.slice(0, 1).map(', killedBy: delivery },
  { title: 'webhooks: short secrets are taken', file: `${webhooks}signature.ts`, find: 'bytes.length >= secretBytes.min && ', replace: '', killedBy: config },
  { title: 'webhooks: an address within IPv6 is not looked at', file: `${webhooks}addresses.ts`, find: 'ipaddr.process(address)', replace: 'ipaddr.parse(address)', killedBy: addresses },
  { title: 'webhooks: all that is called unicast is public', file: `${webhooks}addresses.ts`, find: '!parsed.match(publicIPv6)', replace: 'false', killedBy: addresses },
  { title: 'webhooks: of several addresses only the first is checked', file: `${webhooks}public-connector.ts`, find: 'for (const { address } of addresses) {', replace: 'for (const { address } of addresses.slice(0, 1)) {', killedBy: addresses },
  { title: 'webhooks: addresses in the url are not checked', file: `${webhooks}public-connector.ts`, find: 'isIP(host) === 0 ? undefined', replace: 'isIP(host) >= 0 ? undefined', killedBy: addresses },
  { title: 'webhooks: what is resolved is not checked', file: `${webhooks}public-connector.ts`, find: 'const checked = check(host, addresses)', replace: 'const checked = addresses', killedBy: addresses },
  { title: 'webhooks: a pause may be as long as the receiver says', file: `${webhooks}post.ts`, find: 'Math.min(Math.max(ms, 0), retryAfterMsMax)', replace: 'Math.max(ms, 0)', killedBy: addresses },
  { title: 'webhooks: an error has the address of the receiver', file: `${webhooks}post.ts`, find: 'const reason = `it answers', replace: 'const reason = `${url}: it answers', killedBy: delivery },
  { title: 'webhooks: an answer that drips keeps the next message back', file: `${webhooks}post.ts`, find: 'clearTimeout(clock)\n      clock = setTimeout(abort, answerRestMs)', replace: '', killedBy: delivery, named: 'an answer that drips without end' },
  { title: 'webhooks: what fails is dropped', file: `${webhooks}receiver.ts`, find: 'if (isOld()) return this.drop(message, outcome.reason)', replace: 'return this.drop(message, outcome.reason)', killedBy: delivery },
  { title: 'webhooks: old messages are tried for ever', file: `${webhooks}receiver.ts`, find: 'if (isOld()) return this.drop(message, outcome.reason)', replace: '', killedBy: delivery },
  { title: 'webhooks: a message that is refused holds up the others', file: `${webhooks}receiver.ts`, find: '++refused >= refusalsMax', replace: '++refused < 0', killedBy: delivery },
  { title: 'webhooks: 410 is an answer like others', file: `${webhooks}post.ts`, find: 'statusCode === 410', replace: 'statusCode === 411', killedBy: delivery },
  { title: 'webhooks: all are told of all', file: `${webhooks}receiver.ts`, find: 'kinds?.includes(kind) ?? true', replace: 'kinds?.includes(kind) !== null', killedBy: delivery },
  { title: 'webhooks: a new receiver is told of the past', file: `${webhooks}service.ts`, find: 'message.at >= (since[options.name] ?? 0)', replace: 'message.at >= 0', killedBy: delivery },
  { title: 'webhooks: a receiver that comes back is told of what it missed', file: `${webhooks}service.ts`, find: 'const since: Record<string, number> = {}', replace: 'const since = { ...before } as Record<string, number>', killedBy: delivery },
  { title: 'webhooks: the id is that of the try', file: `${webhooks}message.ts`, find: 'return { id, queue, kind, at,', replace: 'return { id: crypto.randomUUID(), queue, kind, at,', killedBy: ['test/webhooks/delivery.test.ts'] },
  { title: 'webhooks: the place is noted before the message has arrived', file: 'packages/adapters/src/log-follower/follow-log.ts', find: '      await take(batch, { untilDone, signal })\n      done = batch[batch.length - 1]?.revision ?? done', replace: '      done = batch[batch.length - 1]?.revision ?? done\n      await take(batch, { untilDone, signal })', killedBy: delivery },
  { title: 'webhooks: a clock that has jumped ahead makes messages too old', file: `${webhooks}receiver.ts`, find: 'this.now() - message.at', replace: 'Date.now() - message.at', killedBy: delivery },
  { title: 'webhooks: a clock that has jumped ahead signs', file: `${webhooks}post.ts`, find: 'Math.floor(now() / 1_000)', replace: 'Math.floor(Date.now() / 1_000)', killedBy: delivery },
  { title: 'webhooks: a time in the future is believed', file: `${webhooks}service.ts`, find: 'Math.min(told, daybook.now())', replace: 'told', killedBy: delivery },
  { title: 'webhooks: a stop waits for the receiver', file: `${webhooks}service.ts`, find: '      receiver.stopSoon()\n', replace: '', killedBy: delivery },
  { title: 'webhooks: a start without any forgets nobody', file: `${webhooks}service.ts`, find: 'stored === undefined && webhooks.length === 0', replace: 'webhooks.length === 0', killedBy: ['test/webhooks/killed.test.ts'] },
  { title: 'webhooks: each server gets a folder for them', file: `${webhooks}service.ts`, find: 'stored === undefined && webhooks.length === 0', replace: 'webhooks.length < 0', killedBy: ['test/webhooks/killed.test.ts'] },
]
