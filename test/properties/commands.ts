/** Converts the steps of a scenario to commands, by the present content of the queue. */
import { approvalsOf, batchesOf, type BatchView, type Command, type CommandOf } from '@daybook/core'
import type { ShadowLease, ShadowTask } from '../support/states/index.js'
import { agents, at, callbackKeys, concurrencyKeys, orderingKeys, scheduleNames, skillNames, type Step, type TaskSpec, taskTypes, tenants } from './steps.js'
import type { World } from './world.js'

/** The command of a step; `undefined` if the queue has nothing to which it could apply. */
export const commandOf = (world: World, step: Step): Command | undefined => {
  const command = commandOfShared(world, step)
  return command === undefined || world.shadow.settings.tenants === 'shared' ? command : withTenants(command)
}

/** The command with what a queue whose tenants are isolated demands: a tenant of each task, and batches of one tenant alone. */
const withTenants = (command: Command): Command => {
  const [tenant] = tenants
  const ofSome = <T extends { readonly tenant?: string }>(task: T): T => ({ ...task, tenant: task.tenant ?? tenant })
  const ofOne = <T extends object>(task: T): T => ({ ...task, tenant })
  switch (command.type) {
    case 'Enqueue':
      return { ...command, tasks: command.tasks.map(ofSome) }
    case 'Import':
      return { ...command, tasks: command.tasks.map(ofSome) }
    case 'CreateSchedule':
      return { ...command, task: ofOne(command.task) }
    case 'ChangeSchedule':
      return { ...command, ...(command.task === undefined ? {} : { task: ofOne(command.task) }) }
    case 'CreateBatch':
      return {
        ...command,
        tenant,
        id: command.id.startsWith(tenant) ? command.id : `${tenant}:${command.id}`,
        tasks: command.tasks.map(ofOne),
        ...(command.callback === undefined ? {} : { callback: ofOne(command.callback) }),
      }
    case 'Callback':
      return { ...command, callbackKey: `${at(tenants, command.callbackKey.length)}:${command.callbackKey}` }
    default:
      return command
  }
}

const commandOfShared = (world: World, step: Step): Command | undefined => {
  const { shadow } = world
  switch (step.kind) {
    case 'enqueue':
      return { type: 'Enqueue', tasks: prepared(world, step.tasks) }
    case 'import':
      return {
        type: 'Import',
        tasks: prepared(world, step.tasks).map(({ batchId: _, ...task }, i) => {
          const { status } = step.tasks[i] as { readonly status: 'pending' | 'completed' | 'cancelled' | 'dead-letter' }
          const history = { createdAt: world.clock - 9_000, finishedAt: world.clock - 1_000, retries: 1, lastError: 'as imported' }
          return { ...task, status, ...(status === 'pending' ? {} : history) }
        }),
      }
    case 'claim':
      return {
        type: 'Claim',
        agent: at(agents, step.agent),
        max: step.max,
        ...abilitiesOf(step),
        ...(step.leaseSeconds === null ? {} : { leaseSeconds: step.leaseSeconds }),
      }
    case 'report':
      return report(world, step)
    case 'callback':
      return { type: 'Callback', callbackKey: at(callbackKeys, step.key), content: '{"payload":1}' }
    case 'cancel':
      return map(at(shadow.tasks, step.pick), (task) => {
        // In half of the cases a dependency of the task, so that cascades get deep.
        const [first] = step.pick % 2 === 0 ? shadow.missing(task) : []
        return { type: 'Cancel', task: first ?? task.facts.task, reason: 'not needed' }
      })
    case 'cancelAll': {
      const type = taskTypes[step.type]
      return {
        type: 'CancelAll',
        reason: 'not needed',
        max: step.max,
        filter: { ...(type === undefined ? {} : { type }), ...(step.status === null ? {} : { statuses: [step.status] }) },
      }
    }
    case 'redrive': {
      const said = { reviewer: 'rev', reason: 'looked at it' }
      if (step.stop) return { type: 'StopRedrive', ...said }
      const type = taskTypes[step.type]
      return { type: 'Redrive', ...said, perMinute: step.perMinute, filter: type === undefined ? {} : { type } }
    }
    case 'review': {
      const said = { reviewer: 'rev', reason: 'looked at it' }
      const by = step.verb === 'Snooze' ? { type: step.verb, ...said, until: world.clock + (step.type + 1) * 30_000 } : { type: step.verb, ...said }
      if (step.pick === null) {
        const type = taskTypes[step.type]
        return { ...by, filter: type === undefined ? {} : { type } }
      }
      const dead = shadow.tasks.filter((task) => task.stage === 'dead-letter')
      const edited = step.verb === 'Retry' && step.pick % 3 === 0 ? { content: '{"payload":2}' } : {}
      return map(at(dead, step.pick), (task) => ({ ...by, ...edited, task: task.facts.task }))
    }
    case 'guardian':
      return map(at(approvalsOf(world.state), step.pick), ({ id, tasks }) =>
        step.verb === 'Refuse'
          ? { type: 'Refuse', approval: id, reason: 'no' }
          : { type: 'Approve', approval: id, reason: 'yes', contents: tasks.map(() => '{}') },
      )
    case 'breaker':
      return { type: step.verb, taskType: at(taskTypes, step.type), reason: 'by hand' }
    case 'schedule': {
      const { kind: _, rule, task, ...fields } = step
      const name = at(scheduleNames, step.name)
      const definition = { ...fields, ...rule, name, task: { type: at(taskTypes, task), maxRetries: 1, timeout: 30, payload: { run: task } } }
      return shadow.schedules.has(name) ? { type: 'ChangeSchedule', ...definition } : { type: 'CreateSchedule', ...definition }
    }
    case 'unschedule':
      return { type: 'RemoveSchedule', name: at(scheduleNames, step.name) }
    case 'batch': {
      const { again, tasks, on, callback, open } = step
      const known = again === null ? undefined : at(batchesOf(world.state, {}, 100, undefined, world.clock).batches, again)
      const definition = {
        on: known?.on ?? on,
        ...((known === undefined && callback) || known?.callback !== undefined ? { callback: { type: taskTypes[2], maxRetries: 1, timeout: 30, payload: 'all done' } } : {}),
        ...(open ? { open: true as const } : {}),
      }
      return { type: 'CreateBatch', id: known?.id ?? `batch-${world.newId()}`, tasks: prepared(world, tasks).map(({ batchId: _, ...task }) => task), ...definition }
    }
    case 'closeBatch':
      return map(at(unfinishedBatches(world), step.pick), ({ id }) => ({ type: 'CloseBatch', id }))
    case 'cancelBatch':
      return map(at(batchesOf(world.state, {}, 100).batches, step.pick), ({ id }) => ({ type: 'CancelBatch', id, reason: 'not needed', max: step.max, ...(step.runsCallback ? { runsCallback: true as const } : {}) }))
    case 'terminate':
      return {
        type: 'TerminateAgent',
        agent: at(shadow.tasks.filter((task) => shadow.isHeld(task)), step.agent)?.lease?.agent ?? 'nobody',
        reason: 'gone',
      }
    case 'restart': {
      const over = shadow.tasks.filter((task) => shadow.isEnded(task) || task.stage === 'dead-letter')
      return map(at(step.pick % 8 === 0 ? shadow.tasks : over, step.pick), (task) => ({ type: 'Restart', task: task.facts.task, id: world.newId(), reason: 'again', content: '{}' }))
    }
    case 'amend': {
      // Mostly a task that may be changed.
      const idle = shadow.tasks.filter((task) => !shadow.isHeld(task) && !shadow.isEnded(task))
      const timeOf = (time: number | 'none'): number | null => (time === 'none' ? null : world.clock + time * 1_000)
      return map(at(step.pick % 16 === 0 ? shadow.tasks : idle, step.pick), (task) => ({
        type: 'AmendTask',
        task: task.facts.task,
        reason: 'a slip',
        ...(step.priority === null ? {} : { priority: step.priority }),
        ...(step.deadline === null ? {} : { deadlineAt: timeOf(step.deadline) }),
        ...(step.available === null || task.stage !== 'waiting' ? {} : { availableAt: timeOf(step.available) }),
        ...(step.payload ? { content: '{"payload":3}', contentRevision: task.contentRevision } : {}),
      }))
    }
    case 'erase': {
      // Mostly a finished task; or one that the queue no longer knows.
      const over = shadow.tasks.filter((task) => shadow.isEnded(task))
      if (step.pick % 4 === 1) return map(at(shadow.gone, step.pick), (task) => ({ type: 'Erase', task: task.facts.task, reason: 'asked for', outlived: true as const }))
      return map(at(step.pick % 8 === 0 ? shadow.tasks : over, step.pick), (task) => ({ type: 'Erase', task: task.facts.task, reason: 'asked for' }))
    }
    case 'bump': {
      // Mostly a ready task.
      const ready = shadow.tasks.filter((task) => shadow.statusOf(task) === 'pending')
      return map(at(step.pick % 8 === 0 ? shadow.tasks : ready, step.pick), (task) => ({ type: 'Bump', task: task.facts.task, reason: 'now' }))
    }
    case 'register':
      return {
        type: 'RegisterAgent',
        agent: at(agents, step.agent),
        ...abilitiesOf(step),
        ...(step.maxTasks === null ? {} : { maxTasks: step.maxTasks }),
        ttlSeconds: step.ttlSeconds,
      }
    case 'limit':
      return step.limit === null ? { type: 'RemoveLimit', key: step.key } : { type: 'SetLimit', key: step.key, ...step.limit }
    case 'configure':
      return { type: 'Configure', patch: step.patch }
    case 'pause':
      return { type: 'Pause', reason: 'lunch' }
    case 'resume':
      return { type: 'Resume', reason: 'back' }
    case 'tick':
      return { type: 'Tick' }
    default:
      return undefined
  }
}

const abilitiesOf = ({ types, phase, skills, tenant }: Pick<Extract<Step, { kind: 'register' }>, 'types' | 'phase' | 'skills' | 'tenant'>) => ({
  ...(types === null ? {} : { types }),
  ...(phase === null ? {} : { phases: [phase] }),
  ...(skills === null ? {} : { skills: skillNames.slice(0, skills) }),
  ...(tenant === null ? {} : { tenant: at(tenants, tenant) }),
})

const unfinishedBatches = (world: World): ReadonlyArray<BatchView> => batchesOf(world.state, {}, 100).batches.filter(({ state }) => state !== 'finished')

/** Joins a batch: one that is closed mostly by a task of it that is being worked on, if there is one. */
const joining = (world: World, { batch = null }: TaskSpec): { readonly batchId?: string; readonly parentTaskId?: string } => {
  const joined = batch === null ? undefined : at(unfinishedBatches(world), batch)
  if (joined === undefined) return {}
  const { shadow } = world
  const parent = joined.state === 'open' || batch === 0 ? undefined : shadow.tasks.find((task) => shadow.isHeld(task) && task.facts.batchId === joined.id)
  return { batchId: joined.id, ...(parent === undefined ? {} : { parentTaskId: parent.facts.task }) }
}

const keyed = ({ concurrency = null, line = null }: TaskSpec) => ({
  ...(concurrency === null ? {} : { concurrencyKey: at(concurrencyKeys, concurrency.key) }),
  ...((concurrency?.limit ?? null) === null ? {} : { concurrencyLimit: Number(concurrency?.limit) }),
  ...(line === null ? {} : { orderingKey: at(orderingKeys, line) }),
})

const prepared = (world: World, specs: ReadonlyArray<TaskSpec>) => {
  const ids = specs.map(({ reuseId }) => {
    const known = reuseId === null ? undefined : at([...world.shadow.gone.slice(-3), ...world.shadow.tasks], reuseId)
    return known?.facts.task ?? world.newId()
  })
  // In a request a task may also depend on a later one, which sometimes makes a cycle.
  const population = [...world.shadow.tasks.slice(-8).map((task) => task.facts.task), ...ids]
  return specs.map((spec, i) => {
    const id = ids[i] as string
    return {
      id,
      type: at(taskTypes, spec.type),
      idempotencyKey: spec.key === null ? `own-${id}` : `key-${spec.key}`,
      content: '{}',
      ...(spec.isContentKey ? { isContentKey: true as const } : {}),
      // An id that is in use already was given by the producer.
      ...(spec.isMadeId && spec.reuseId === null ? { isMadeId: true as const } : {}),
      ...(spec.deduplicate === null ? {} : { deduplicate: spec.deduplicate }),
      priority: spec.priority,
      timeout: spec.timeout,
      ...((spec.maxRun ?? null) === null ? {} : { maxRunSeconds: Number(spec.maxRun) }),
      maxRetries: spec.maxRetries,
      backoffSeconds: spec.backoffSeconds,
      dependencies: spec.dependencies.map((d) => at(population, d)).filter((d) => d !== id),
      skills: spec.skills.map((skill) => at(skillNames, skill)),
      ...(spec.delaySeconds === 0 ? {} : { availableAt: world.clock + spec.delaySeconds * 1_000 }),
      ...((spec.deadlineSeconds ?? null) === null ? {} : { deadlineAt: world.clock + Number(spec.deadlineSeconds) * 1_000 }),
      ...(spec.phase === null ? {} : { phase: spec.phase }),
      ...(spec.tenant === null ? {} : { tenant: at(tenants, spec.tenant) }),
      ...keyed(spec),
      ...joining(world, spec),
      ...(spec.ticket === null ? {} : { ticketId: `T-${spec.ticket}` }),
    }
  })
}

/** Who reports, and by which token. */
const reporter = (
  world: World,
  who: Extract<Step, { kind: 'report' }>['who'],
  task: ShadowTask,
  { agent, token }: ShadowLease,
  held: ReadonlyArray<ShadowTask>,
): { readonly agent: string; readonly token: number } | undefined => {
  switch (who) {
    case 'holder':
      return { agent, token }
    case 'other':
      return { agent: at(agents, agents.indexOf(agent as 'ann') + 1), token }
    case 'stale': {
      const first = world.log.find((event) => event.type === 'Claimed' && event.data.task === task.facts.task)
      return first?.type === 'Claimed' ? { agent: first.data.agent, token: first.data.token } : { agent, token }
    }
    case 'crossed': {
      const another = held.find((each) => each !== task && each.lease?.agent === agent)
      if (another?.lease) world.count('crossed tokens')
      return another?.lease ? { agent, token: another.lease.token } : undefined
    }
  }
}

const report = (world: World, step: Extract<Step, { kind: 'report' }>): Command | undefined => {
  const { shadow } = world
  const held = shadow.tasks.filter((task) => shadow.isHeld(task))
  const once = shadow.tasks.filter((task) => task.lease !== null)
  const task: ShadowTask | undefined = step.who === 'stale' ? at(once, step.pick) : at(held, step.pick)
  const { lease } = task ?? {}
  if (task === undefined || !lease) return undefined
  const holder = reporter(world, step.who, task, lease, held)
  if (holder === undefined) return undefined
  const claim = { task: task.facts.task, ...holder }
  const message = ['ENOENT /tmp/7 after 31 ms', 'timeout of 500 ms', 'assertion 3 failed'][step.error] ?? ''
  const checkpoint = step.error === 2 ? { checkpoint: { at: step.pick } } : {}
  const progress = step.error === 1 ? { progress: step.pick } : {}
  switch (step.how) {
    case 'complete':
    case 'bare':
      return { type: 'Complete', ...claim, content: '{}', hasReport: step.how === 'complete', ...foundBy(step) }
    case 'fail':
    case 'fatal':
      return { type: 'Fail', ...claim, error: { message }, retryable: step.how === 'fail', ...checkpoint }
    case 'release':
      return { type: 'Release', ...claim, reason: 'not mine', ...[{}, { undelivered: true as const }, { stopping: true as const }][step.error] }
    case 'limited':
      return { type: 'Fail', ...claim, error: at(limits, step.pick + step.error), retryable: step.pick % 10 !== 0, ...checkpoint }
    case 'park': {
      const timeoutSeconds = [0.5, 40, 3_600][step.pick % 3] ?? 1
      return { type: 'Park', ...claim, callbackKey: at(callbackKeys, step.pick), timeoutSeconds, ...checkpoint, ...(step.error === 0 ? {} : { onTimeout: step.error === 1 ? 'fail' : 'requeue' }) }
    }
    case 'heartbeat':
      return { type: 'Heartbeat', ...claim, ...checkpoint, ...progress }
  }
}

/** Errors that are rate limits, with credible and other waits. */
const limits: ReadonlyArray<{ readonly message: string; readonly code?: string; readonly retryAfter?: number | string }> = [
  { message: 'slow', retryAfter: 20 },
  { message: '429 Too Many Requests' },
  { message: 'no', code: 'rate_limited', retryAfter: -5 },
  { message: 'Rate limit reached. Please try again in 1.5s' },
  { message: 'busy', retryAfter: 1e300 },
  { message: 'busy', retryAfter: 'tomorrow' },
  { message: 'quota exceeded', code: 'E', retryAfter: '90' },
]
const foundBy = ({ found, error }: Extract<Step, { kind: 'report' }>): Pick<CommandOf<'Complete'>, 'found'> => {
  if (found === undefined || found === null) return {}
  const discoveries = found.discoveries.map(({ kind, ticket }) => ({ kind, content: '{}', ...(ticket === null ? {} : { ticketId: `T-${ticket}` }) }))
  const validation = { error: ['two tests fail', 'no build'][error] ?? 'one test fails', fix: '{}', check: '{}' }
  return { found: { discoveries, left: 0, ...(found.isInvalid ? { validation } : {}) } }
}

const map = <A, B>(value: A | undefined, to: (value: A) => B): B | undefined => (value === undefined ? undefined : to(value))
