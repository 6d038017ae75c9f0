/** Random requests, made from the schemas of the contract. Most of them make sense: they name what earlier answers have named. */
import type { Body } from '../support.js'
import { below, oneOf, type Random } from '../../support/random.js'

export interface RandomRequest {
  /** As in the contract: `POST /api/queues/{queue}/tasks`. */
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly body?: unknown
}

interface Held {
  readonly taskId: string
  readonly agentId: string
  readonly token: number
}

export const queue = 'builds'
const types = ['eng-backend', 'eng-frontend', 'ops']
const agents = ['worker-1', 'worker-2', 'agent with spaces', 'ä']
/** The most of a kind that is remembered. */
const rememberedMax = 100
/** Much of what may be left out is left out: requests with everything are refused. */
const optionalShare = 0.2
/** Requests that make or move tasks are sent more often than others. */
const weights: Readonly<Record<string, number>> = {
  'POST /api/queues/{queue}/tasks': 12,
  'POST /api/queues/{queue}/claims': 16,
  'POST /api/queues/{queue}/tasks/{id}/complete': 6,
  'POST /api/queues/{queue}/tasks/{id}/fail': 6,
  'POST /api/queues/{queue}/outcomes': 4,
  'POST /api/queues/{queue}/imports': 4,
  'DELETE /api/queues/{queue}': 0,
  'POST /api/queues/{queue}/pause': 0.2,
  'POST /api/queues/{queue}/tasks/cancel': 0.2,
  'PATCH /api/queues/{queue}/settings': 0.2,
}

export class RandomRequests {
  private readonly operations: ReadonlyArray<{ readonly operation: string; readonly documented: Body; readonly weight: number }>
  private readonly ids: Array<string> = []
  private readonly batches: Array<string> = []
  private readonly leases: Array<Held> = []
  private revision = 0

  constructor(
    private readonly contract: Body,
    private readonly random: Random,
  ) {
    this.operations = Object.entries<Body>(contract.paths).flatMap(([path, methods]) =>
      Object.entries<Body>(methods)
        // A WebSocket is no request, and with the own token revoked all others would be refused.
        .filter(([method]) => path !== '/api/ws' && !(path.startsWith('/api/tokens') && method !== 'get') && method !== 'parameters')
        .map(([method, documented]) => ({ operation: `${method.toUpperCase()} ${path}`, documented, weight: weights[`${method.toUpperCase()} ${path}`] ?? 1 })),
    )
  }

  next(): RandomRequest {
    const { operation, documented } = this.nextOperation()
    const [method = '', template = ''] = operation.split(' ')
    const held = /\{id\}\/(complete|fail|heartbeat|park|release)$/.test(template) ? this.someOf(this.leases) : undefined
    const query = new URLSearchParams()
    let path = template
    for (const reference of documented.parameters ?? []) {
      const parameter = this.resolved(reference)
      if (parameter.in === 'header') continue
      const value = parameter.in === 'path' && parameter.name === 'id' && held !== undefined ? held.taskId : this.value(parameter.schema, parameter.name, 0)
      if (parameter.in === 'path') path = path.replace(`{${parameter.name}}`, encodeURIComponent(String(value)))
      // A revision that is not there yet is waited for.
      else if (parameter.name !== 'atLeast' && (parameter.required === true || this.random() < optionalShare)) query.set(parameter.name, String(value))
    }
    const schema = documented.requestBody?.content['application/json']?.schema
    const body = schema === undefined ? undefined : this.bodyOf(schema, held)
    return { operation, method, path: query.size === 0 ? path : `${path}?${query}`, ...(body === undefined ? {} : { body }) }
  }

  /** Remembers what an answer names. */
  learn({ operation, body }: RandomRequest, answer: Body): void {
    if (operation.endsWith('/claims')) {
      for (const { task, lease } of answer.claims) this.remember(this.leases, { taskId: task.id, agentId: (body as Body).agentId, token: lease.token })
    }
    if (operation === 'POST /api/queues/{queue}/batches') this.remember(this.batches, answer.id)
    const lists = [answer.results, answer.tasks].filter(Array.isArray)
    for (const { id } of [answer, ...lists.flat()]) if (typeof id === 'string') this.remember(this.ids, id)
    if (typeof answer.revision === 'number') this.revision = answer.revision
  }

  private bodyOf(schema: Body, held: Held | undefined): unknown {
    const body = this.value(schema, undefined, 0)
    if (typeof body !== 'object' || body === null) return body
    if (held !== undefined) return { ...body, agentId: held.agentId, token: held.token }
    if (!('outcomes' in body)) return body
    return { outcomes: (body.outcomes as ReadonlyArray<object>).map((outcome) => ({ ...outcome, ...this.someOf(this.leases) })) }
  }

  private remember<A>(known: Array<A>, value: A): void {
    known.push(value)
    if (known.length > rememberedMax) known.splice(below(this.random, known.length), 1)
  }

  private someOf<A>(known: ReadonlyArray<A>): A | undefined {
    return known.length === 0 ? undefined : oneOf(this.random, known)
  }

  private nextOperation(): (typeof this.operations)[number] {
    let rest = this.random() * this.operations.reduce((sum, { weight }) => sum + weight, 0)
    return this.operations.find(({ weight }) => (rest -= weight) < 0) ?? this.operations[0]!
  }

  private resolved(schema: Body): Body {
    return schema.$ref === undefined ? schema : this.resolved(schema.$ref.slice(2).split('/').reduce((at: Body, key: string) => at[key], this.contract))
  }

  /** Values by the name of the member, which make sense where it stands. */
  private named(name: string | undefined): unknown {
    const { random } = this
    const time = (): string => new Date(Date.now() + oneOf(random, [-5_000, 100, 60_000])).toISOString()
    switch (name) {
      case 'queue':
        return queue
      case 'type':
        return oneOf(random, types)
      case 'types':
      case 'skills':
      case 'phases':
        return []
      case 'agentId':
        return oneOf(random, agents)
      case 'id':
      case 'task_id':
      case 'waitsFor':
        return this.someOf(this.ids) ?? 'none'
      case 'dependencies':
        return below(random, 3) === 0 ? [this.someOf(this.ids) ?? 'none'] : []
      case 'batch':
      case 'batchId':
        return this.someOf(this.batches) ?? 'none'
      case 'wait':
        return 0
      case 'max':
        return 1 + below(random, 5)
      case 'timeout':
      case 'leaseSeconds':
      case 'timeoutSeconds':
        return oneOf(random, [0.05, 60])
      case 'backoffSeconds':
        return oneOf(random, [0, 60])
      case 'revision':
        return below(random, this.revision + 1)
      case 'at':
      case 'until':
      case 'availableAt':
      case 'deadlineAt':
        return time()
      case 'cron':
        return '0 4 * * *'
      case 'traceparent':
        return `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`
      default:
        return undefined
    }
  }

  private value(given: Body, name: string | undefined, depth: number): unknown {
    const { random } = this
    const schema = this.resolved(given)
    // Now and then something else: most of these requests are refused.
    if (random() > 0.03) {
      const named = this.named(name)
      if (named !== undefined) return named
    }
    if (schema.const !== undefined) return schema.const
    if (schema.enum !== undefined) return oneOf(random, schema.enum)
    const choices = schema.anyOf ?? schema.oneOf
    if (choices !== undefined) return this.value(oneOf(random, choices), undefined, depth)
    if (schema.allOf !== undefined) return Object.assign({}, ...schema.allOf.map((each: Body) => this.value(each, undefined, depth)))
    switch (schema.type) {
      case 'boolean':
        return random() < 0.5
      case 'integer':
        return (schema.minimum ?? 0) + below(random, 5)
      case 'number':
        return Math.min(schema.maximum ?? 5, (schema.minimum ?? 0) + below(random, 50) / 10)
      case 'string':
        return schema.format === 'date-time' ? this.named('at') : oneOf(random, ['a', 'b', 'with spaces', 'ünïcode', '😀'])
      case 'array':
        return Array.from({ length: (schema.minItems ?? 0) + below(random, 3) }, () => this.value(schema.items, undefined, depth + 1))
      case 'null':
        return null
      default:
        return schema.properties === undefined ? oneOf<unknown>(random, [{}, { a: [1, null, 'é'] }]) : this.objectOf(schema, depth)
    }
  }

  private objectOf({ properties, required = [] }: Body, depth: number): object {
    const members = Object.entries<Body>(properties).filter(([name]) => required.includes(name) || this.random() < optionalShare)
    return Object.fromEntries(members.map(([name, schema]) => [name, this.value(schema, name, depth + 1)]))
  }
}
