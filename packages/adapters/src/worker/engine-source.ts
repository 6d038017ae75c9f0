/** The source for an engine in the same process. There is no HTTP, and only contents are parsed, when they are read. */
import { DaybookError, type Reason, type SentFields, textOf } from '@daybook/client/internal'
import type { ClaimedWork, Heartbeat, HeartbeatAnswer, ReceivedCallback, Refused, SettleAnswer, SettleOutcome, SourceClaim, TaskSource, WorkTask } from '@daybook/client/worker'
import { type ClaimRequest, type Command, type Json, type JsonObject, keptFailure, type Replies, whyNothing } from '@daybook/core'
import { isLeft } from 'fp-ts/lib/Either.js'
import { defined } from '../defined.js'
import { prepareResult } from '../engine/contents/prepare.js'
import type { Claim, Caller, Outcome, QueueEngine, Refusal } from '../engine/types.js'
import type { MemoryService } from '../memory-bank/index.js'
import { isoOf } from '../iso-time.js'
import { sentFields } from '../sent-fields.js'

/** `actor`: the name in the log; default: the agent's name. `memory`: its memories come with claims, as over HTTP. */
export const engineSource = (engine: QueueEngine, actor?: string, memory?: Pick<MemoryService, 'recallFor'>): TaskSource => {
  const callerOf = (agentId: string): Caller => ({ actor: actor ?? agentId })

  /** Submits the commands. The answers have the order of the outcomes; refusals of invalid outcomes are in their positions. */
  const submit = async <A>(
    commands: ReadonlyArray<Command | Refused>,
    caller: Caller,
    accepted: (value: Replies[Command['type']]) => A,
  ): Promise<ReadonlyArray<A | Refused>> => {
    const outcomes = await engine.submitAll(commands.filter((command): command is Command => !('ok' in command)), caller)
    let next = 0
    return commands.map((command) => {
      if ('ok' in command) return command
      const outcome = outcomes[next++] as Outcome<Replies[Command['type']]>
      return isLeft(outcome) ? refused(outcome.left) : accepted(outcome.right.value)
    })
  }

  return {
    claim: async ({ agentId, max, waitMs, leaseSeconds, onNothing, ...abilities }, signal) => {
      const command = {
        type: 'Claim' as const,
        agent: agentId,
        max,
        leaseSeconds,
        ...given(abilities),
      }
      const outcome = await engine.claim(command, callerOf(agentId), { waitMs, signal })
      if (isLeft(outcome)) {
        const { code, detail, retryAfterSeconds } = refused(outcome.left)
        throw new DaybookError(code, detail, { retryAfterSeconds })
      }
      const claims = outcome.right.value
      if (claims.length === 0 && onNothing !== undefined) onNothing(await whyNothingIn(engine, command))
      const recalled = await memory?.recallFor(engine.name, claims)
      return claims.map((claim, index) => workOf(claim, recalled?.memories[index], recalled?.missing))
    },
    register: async ({ agentId, maxTasks, ttlSeconds, ...abilities }) => {
      // A queue is created by its first task.
      if (engine.status().revision < 0) throw new DaybookError('not-found', `queue ${engine.name} does not exist yet`)
      const outcome = await engine.submit(
        { type: 'RegisterAgent', agent: agentId, ttlSeconds, ...given(abilities), ...defined({ maxTasks }) },
        callerOf(agentId),
      )
      if (isLeft(outcome)) throw new DaybookError(outcome.left.code, outcome.left.detail)
    },
    settle: async (outcomes) =>
      submit(outcomes.map(commandOf), callerOf(outcomes[0]?.agentId ?? ''), (value): SettleAnswer => ({
        ok: true,
        status: (value as Replies['Complete']).status,
      })),
    heartbeat: async (heartbeats) =>
      submit(heartbeats.map(heartbeatOf), callerOf(heartbeats[0]?.agentId ?? ''), (): HeartbeatAnswer => ({ ok: true })),
  }
}

const given = ({ types, phases, skills, tenant }: Pick<SourceClaim, 'types' | 'phases' | 'skills' | 'tenant'>) => defined({ types, phases, skills, tenant })

const whyNothingIn = async (engine: QueueEngine, request: ClaimRequest): Promise<Reason | undefined> => {
  const why = await engine.read((state, at) => whyNothing(state, request, at))
  if (isLeft(why) || why.right.value === undefined) return undefined
  const { until, remedy: _, ...reason } = why.right.value
  return until === undefined ? reason : { ...reason, until: isoOf(until) }
}

const refused = (refusal: Refusal): Refused => ({
  ok: false,
  code: refusal.code,
  detail: refusal.detail,
  retryAfterSeconds: 'retryAfterSeconds' in refusal ? refusal.retryAfterSeconds : undefined,
})
const invalid = (detail: string): Refused => ({ ok: false, code: 'invalid', detail })

interface Content {
  readonly payload?: Json
  readonly description?: string
  readonly metadata?: JsonObject
}

/** A task of a claim. Its members are computed when they are read, because most handlers read few of them. */
class EngineTask implements Omit<WorkTask, keyof SentFields> {
  private content: Content | undefined

  constructor(private readonly claim: Claim) {}

  private get parsed(): Content {
    return (this.content ??= JSON.parse(this.claim.content) as Content)
  }
  get id(): string {
    return this.claim.task
  }
  get number(): number {
    return this.claim.number
  }
  get type(): string {
    return this.claim.type
  }
  get priority(): number {
    return this.claim.priority
  }
  get payload(): Json {
    return this.parsed.payload ?? null
  }
  get description(): string | undefined {
    return this.parsed.description
  }
  get metadata(): JsonObject | undefined {
    return this.parsed.metadata
  }
  get idempotencyKey(): string {
    return this.claim.idempotencyKey
  }
  get attempt(): number {
    return this.claim.attempt
  }
  get attemptsMax(): number {
    return this.claim.attemptsMax
  }
  get dependencies(): ReadonlyArray<string> {
    return this.claim.dependencies
  }
  get createdAt(): string {
    return isoOf(this.claim.createdAt)
  }

  /** A plain object, as over HTTP, which can be logged or sent on. */
  toJSON(): WorkTask {
    const { id, number, type, priority, payload, description, metadata, idempotencyKey, attempt, attemptsMax, dependencies, createdAt } = this
    return { id, number, type, priority, payload, description, metadata, idempotencyKey, attempt, attemptsMax, dependencies, createdAt, ...sentFields(this.claim) }
  }
}

const workOf = (claim: Claim, memories?: ClaimedWork['memories'], memoriesMissing?: string): ClaimedWork => ({
  task: Object.assign(new EngineTask(claim), sentFields(claim)),
  token: claim.token,
  leaseMs: claim.leaseMs,
  waitedMs: claim.waitedMs,
  checkpoint: claim.checkpoint === undefined ? undefined : (JSON.parse(claim.checkpoint) as Json),
  callback: callbackOf(claim),
  memories,
  memoriesMissing,
})

const callbackOf = ({ callbackReceived, callback = '{}' }: Claim): ReceivedCallback | undefined => {
  if (callbackReceived === undefined) return undefined
  const { payload = null } = JSON.parse(callback) as { readonly payload?: Json }
  return { key: callbackReceived.key, payload, at: isoOf(callbackReceived.at) }
}

/** An outcome that cannot be written to the log is refused here, because in the engine it would block others. */
const commandOf = (outcome: SettleOutcome): Command | Refused => {
  const { taskId: task, agentId: agent, token } = outcome
  switch (outcome.kind) {
    case 'complete': {
      const prepared = prepareResult(outcome.result)
      if (isLeft(prepared)) return refused(prepared.left)
      return { type: 'Complete', task, agent, token, ...prepared.right }
    }
    case 'fail': {
      const { retryable, checkpoint } = outcome
      const error = keptFailure(outcome.error)
      if (checkpoint === undefined) return { type: 'Fail', task, agent, token, error, retryable }
      const plain = plainOf(checkpoint)
      return isRefused(plain) ? plain.refused : { type: 'Fail', task, agent, token, error, retryable, checkpoint: plain.value }
    }
    case 'park': {
      const { callbackKey, timeoutSeconds, onTimeout, checkpoint } = outcome
      const wait = { type: 'Park' as const, task, agent, token, callbackKey, timeoutSeconds, ...defined({ onTimeout }) }
      if (checkpoint === undefined) return wait
      const plain = plainOf(checkpoint)
      return isRefused(plain) ? plain.refused : { ...wait, checkpoint: plain.value }
    }
    case 'release':
      return { type: 'Release', task, agent, token, reason: outcome.reason, ...(outcome.stopping === true ? { stopping: true } : {}) }
  }
}

const heartbeatOf = ({ taskId: task, agentId: agent, token, ...said }: Heartbeat): Command | Refused => {
  const plain = plainOf({ ...said })
  if (isRefused(plain)) return plain.refused
  const { progress, checkpoint } = plain.value as { readonly progress?: Json; readonly checkpoint?: Json }
  return { type: 'Heartbeat', task, agent, token, ...defined({ progress, checkpoint }) }
}

/** The value after a JSON round trip, as over HTTP. */
const plainOf = (value: Json): { readonly value: Json } | { readonly refused: Refused } => {
  const text = textOf(value)
  return text instanceof DaybookError ? { refused: invalid(text.detail) } : { value: JSON.parse(text) as Json }
}
const isRefused = <A extends object>(answer: A | { readonly refused: Refused }): answer is { readonly refused: Refused } => 'refused' in answer
