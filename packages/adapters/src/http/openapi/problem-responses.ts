/** The answers of refused requests, each under a name in `components`, because most routes share them. */
import { ProblemAnswer } from '../answers/parts.js'
import { type ProblemCode, statusOf, titleOf } from '../problem.js'
import type { Route } from '../routes/route.js'
import { problemHeaders } from './headers.js'
import { type JsonSchema, schemaOf } from './json-schema.js'
import { problemWords } from './problem-words.js'
import { anywhere, type Possible, problemsOf } from './problems.js'

/** With these problems, `Retry-After` may say when to try again. */
const passing: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['too-many-requests', 'overloaded', 'read-only', 'clock', 'unavailable', 'outcome-unknown', 'conflict'])

export class ProblemResponses {
  private readonly byName = new Map<string, JsonSchema>()
  private readonly schema: JsonSchema

  constructor(components: Map<string, JsonSchema>) {
    this.schema = schemaOf(ProblemAnswer, components)
  }

  /** By status. `default`: the problems that any request may have. */
  of(route: Route): JsonSchema {
    return this.from(problemsOf(route))
  }

  from(possible: ReadonlyArray<Possible>): JsonSchema {
    const statuses = [...new Set(possible.map(({ status }) => status))]
    return {
      ...Object.fromEntries(statuses.map((status) => [status, this.refer(nameOf, status, possible.filter((each) => each.status === status).map(({ code }) => code))])),
      default: this.refer(() => 'Failure', undefined, anywhere),
    }
  }

  all(): JsonSchema {
    return Object.fromEntries([...this.byName].sort(([a], [b]) => (a < b ? -1 : 1)))
  }

  private refer(nameFor: typeof nameOf, status: number | undefined, codes: ReadonlyArray<ProblemCode>): JsonSchema {
    const name = nameFor(status, codes)
    if (!this.byName.has(name)) this.byName.set(name, this.response(status, codes))
    return { $ref: `#/components/responses/${name}` }
  }

  private response(status: number | undefined, codes: ReadonlyArray<ProblemCode>): JsonSchema {
    return {
      description: codes.map((code) => `\`${code}\`: ${problemWords[code].meaning}`).join('\n\n'),
      headers: problemHeaders(status ?? 500, codes.some((code) => passing.has(code))),
      content: {
        'application/problem+json': {
          schema: { allOf: [this.schema, { type: 'object', properties: { ...(status === undefined ? {} : { status: { const: status } }), code: { enum: codes } } }] },
          examples: Object.fromEntries(codes.map((code) => [code, { summary: titleOf(code), value: exampleOf(code, status ?? statusOf(code)) }])),
        },
      },
    }
  }
}

/** `409`, `lease-lost`, `conflict` → `409-conflict-lease-lost`. */
const nameOf = (status: number | undefined, codes: ReadonlyArray<ProblemCode>): string => [status, ...[...codes].sort()].join('-')

const exampleOf = (code: ProblemCode, status: number): JsonSchema => ({
  type: `urn:daybook:problem:${code}`,
  title: titleOf(code),
  status,
  code,
  detail: problemWords[code].detail,
  ...(code === 'invalid' ? { errors: [{ path: 'timeout', message: 'must be a number from 0.001 to 315360000, not "soon"' }] } : {}),
  ...(passing.has(code) && code !== 'conflict' ? { retryAfterSeconds: code === 'clock' || code === 'read-only' ? 5 : 1 } : {}),
  correlationId: 'ci-run-4711',
})
