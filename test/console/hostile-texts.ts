/** Texts that try to become markup, script or an address, in everything that a producer, a worker or a schedule can send. */
import type { ConsoleServer } from './server.js'

export const hostileQueue = 'hostile'

/** What each would set if it ran. */
export const mark = 'ranHostileScript'
const script = `${mark}=1`

export const corpus = [
  `<img src=x onerror=${script}>`,
  `"><script>${script}</script>`,
  `'><svg onload=${script}>`,
  `javascript:${script}`,
  `<a href="javascript:${script}">press</a>`,
  `{{constructor.constructor('${script}')()}}`,
  `</textarea><iframe srcdoc="<script>parent.${script}</script>">`,
  `https://evil.example/${'x'.repeat(80)}`,
  `\u202eevil\u202c`,
] as const

/** One of the tasks, whose id is such a text, too. */
export const hostileTask = `held ${corpus[1]}`

/** Each text is in the type, tenant, ticket, id, agent, skill, description, payload, metadata, error, schedule and proposal of some task. */
export const seedHostileTexts = async ({ admin }: ConsoleServer): Promise<void> => {
  const queue = admin.in(hostileQueue)
  await queue.settings.patch({ decisionReport: 'optional', capacity: { maxConcurrentAgents: 1_000 }, breakers: { defaults: { failureThreshold: 1 } } })
  for (const [i, text] of corpus.entries()) {
    const id = `${text}`.slice(0, 100)
    const common = { type: text, tenant: text, ticketId: text, description: text, payload: { [text]: text, nested: [text] }, metadata: { [text]: text } }
    await queue.enqueueAll([
      { ...common, id: `held ${id}`, orderingKey: text },
      { ...common, id: `dead ${id}`, payload: { dead: text } },
      { ...common, id: `done ${id}`, payload: { done: text }, requires: { skills: [text] } },
      { ...common, id: `ready ${id}`, payload: { ready: text }, concurrencyKey: `key ${id}` },
    ])
    const agentId = text
    await queue.agents.register({ agentId, types: ['*'], skills: [text], maxTasks: 10 })
    for (const { task, lease } of await queue.claim({ agentId, types: text.includes('*') ? ['*'] : [text], skills: [text], max: 4 })) {
      const said = { agentId, token: lease.token }
      if (task.id.startsWith('held')) await queue.heartbeat(task.id, { ...said, progress: text, checkpoint: text })
      else if (task.id.startsWith('done')) await queue.complete(task.id, { ...said, result: { output: text, decisionReport: text, errors: [text], discoveries: [{ type: 'security_issue', details: text, severity: 'HIGH', suggestedAction: text, ticketId: `other ${id}` }] } })
      else if (task.id.startsWith('dead')) await queue.fail(task.id, { ...said, error: { message: text, code: text.slice(0, 60), stack: text }, retryable: false })
    }
    await queue.schedules.create(`schedule-${i}`, { every: 86_400, task: { type: text, description: text, tenant: text } })
    await queue.limits.set(`type:${text}`, { concurrency: 1 })
  }
  await queue.pause(corpus[0])
}
