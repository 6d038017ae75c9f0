/** The reports of the agent that holds a task: complete, fail, release, heartbeat. */
import { Command } from 'commander'
import { type Json, plural, type Result } from '@daybook/core/common'
import { defined } from '../../defined.js'
import { type Cli, examples } from '../cli.js'
import { exitCodes, UsageError } from '../exit-codes.js'
import type { Io } from '../io.js'
import { paintStatus } from '../printer.js'
import { clean, until } from '../text.js'
import { positive, readJson, readJsonOrText, secondsFrom } from '../values.js'
import { isOutage } from '../outage.js'
import { defaultAgent } from '../who.js'
import { isObject } from '../../is-object.js'
import { wakeable } from '../../wakeable.js'

export interface Held {
  readonly agent?: string
  readonly lease: number
}

export const held = (command: Command): Command =>
  command
    .argument('<id>', 'the task: its id, or #number')
    .requiredOption('--lease <token>', 'the lease token that came with the claim', positive)
    .option('--agent <name>', 'who holds it (env DAYBOOK_AGENT; default: this host and user)')

export const holderOf = ({ agent, lease }: Held, io: Io): { readonly agentId: string; readonly token: number } => ({ agentId: agent ?? defaultAgent(io.env), token: lease })

export const checkpointOf = async ({ checkpoint }: { readonly checkpoint?: string }, io: Io): Promise<{ readonly checkpoint?: Json }> =>
  checkpoint === undefined ? {} : { checkpoint: await readJson(checkpoint, '--checkpoint', io) }

interface CompleteOptions extends Held {
  readonly result?: string
  readonly output?: string
  readonly report?: string
}

export const completeCommand = (cli: Cli): Command =>
  held(new Command('complete').description('hand in the result of a task'))
    .option('--result <json>', 'the whole result: {"output":…,"decisionReport":…}; @file, or - for standard input')
    .option('--output <json>', 'what came of it: JSON or text, @file or -')
    .option('--report <json>', 'the decision report: what was decided and why; JSON or text, @file or -')
    .addHelpText('after', examples(
      'daybook complete api --lease 7 --output done --report "chose Fastify: measured twice as fast"',
      'run-agent | daybook complete api --lease 7 --result -',
      '',
      'A queue requires a decision report unless its settings say otherwise. Without one the task is incomplete:',
      'exit code 1, the lease runs on, and the report can be handed in by completing again. What was handed in is kept.',
    ))
    .action(cli.connected<CompleteOptions, [string]>(async ({ io, printer, client }, options, id) => {
      if (options.result !== undefined && (options.output ?? options.report) !== undefined) throw new UsageError('give --result, or --output and --report')
      const result = options.result === undefined ? {} : await readJson(options.result, '--result', io)
      if (!isObject(result)) throw new UsageError('--result must be a JSON object, such as {"output":…,"decisionReport":…}: give other values as --output')
      const parts: Record<string, Json> = {}
      if (options.output !== undefined) parts.output = await readJsonOrText(options.output, io)
      if (options.report !== undefined) parts.decisionReport = await readJsonOrText(options.report, io)
      const answer = await client.complete(id, {
        ...holderOf(options, io),
        result: { ...(result as Result), ...parts },
      })
      printer.answer({ id, ...answer }, () => {
        printer.line(`${id} ${paintStatus(printer.colors, answer.status)}`)
        const { spawned = [], approvals = [], left = 0 } = answer
        if (spawned.length > 0) printer.line(`spawned: ${clean(spawned.join(', '))}`)
        if (approvals.length > 0) printer.line(`waits for a guardian: ${approvals.join(', ')} (see: daybook approvals)`)
        if (left > 0) printer.line(`${plural(left, 'discovery', 'discoveries')} only kept in the result: of no kind with a rule in the settings, or too many`)
      })
      if (answer.status !== 'incomplete') return exitCodes.done
      printer.note(`${id} is incomplete: the queue wants a decision report. What was handed in is kept: complete it again\nwith --report before the lease ends, or: daybook settings set decisionReport=optional`)
      return exitCodes.refused
    }))

interface FailOptions extends Held {
  readonly error: string
  readonly code?: string
  readonly retryAfter?: string
  readonly permanent?: boolean
  readonly checkpoint?: string
}

export const failCommand = (cli: Cli): Command =>
  held(new Command('fail').description('report that an attempt has failed'))
    .requiredOption('--error <text>', 'what went wrong')
    .option('--code <code>', 'a short name for it')
    .option('--retry-after <when>', 'not before: a number of seconds, or an HTTP date')
    .option('--permanent', 'trying again is of no use: straight to the dead letters')
    .option('--checkpoint <json>', 'what the next agent may go on from; @file or -')
    .addHelpText('after', examples(
      'daybook fail api --lease 7 --error "429 too many requests" --retry-after 120',
      'daybook fail api --lease 7 --error "the payload has no target" --permanent',
    ))
    .action(cli.connected<FailOptions, [string]>(async ({ io, printer, client }, options, id) => {
      const { retryAfter } = options
      const answer = await client.fail(id, {
        ...holderOf(options, io),
        error: {
          message: options.error,
          ...defined({ code: options.code, retryAfter: retryAfter !== undefined && /^\d+$/.test(retryAfter) ? Number(retryAfter) : retryAfter }),
        },
        retryable: options.permanent !== true,
        ...(await checkpointOf(options, io)),
      })
      printer.answer({ id, ...answer }, () =>
        printer.line(`${id} ${paintStatus(printer.colors, answer.status)}${answer.availableAt === undefined ? '' : `, tried again ${until(answer.availableAt)}`}`))
    }))

export const releaseCommand = (cli: Cli): Command =>
  held(new Command('release').description('give a task back unfinished; this agent will not get it again'))
    .option('--reason <text>', 'why', 'released on the command line')
    .option('--stopping', 'this agent stops, and does not refuse the task: no attempt is counted, and it may get it again')
    .addHelpText('after', examples(
      'daybook release api --lease 7 --reason "needs somebody who knows Go"',
      'daybook release api --lease 7 --stopping --reason "going home"',
    ))
    .action(cli.connected<Held & { readonly reason: string; readonly stopping?: true }, [string]>(async ({ io, printer, client }, options, id) => {
      const answer = await client.release(id, {
        ...holderOf(options, io),
        reason: options.reason,
        ...defined({ stopping: options.stopping }),
      })
      printer.answer({ id, ...answer }, () => printer.line(`${id} ${paintStatus(printer.colors, answer.status)}`))
    }))

/** The longest pause of `heartbeat --every` after a server did not answer, in seconds. */
const afterOutage = 1

export const heartbeatCommand = (cli: Cli): Command =>
  held(new Command('heartbeat').description('extend a lease, and say how far the work is'))
    .option('--progress <json>', 'how far: JSON or text')
    .option('--checkpoint <json>', 'what the next agent may go on from; @file or -')
    .option('--every <seconds>', 'go on until interrupted, or until the lease is lost', secondsFrom(0.1))
    .addHelpText('after', examples('daybook heartbeat api --lease 7 --progress "3 of 8 files"', 'daybook heartbeat api --lease 7 --every 60 &'))
    .action(cli.connected<Held & { readonly progress?: string; readonly checkpoint?: string; readonly every?: number }, [string]>(
      async ({ io, printer, client }, options, id) => {
        const report = {
          ...holderOf(options, io),
          ...(options.progress === undefined ? {} : { progress: await readJsonOrText(options.progress, io) }),
          ...(await checkpointOf(options, io)),
        }
        let isOver = options.every === undefined
        let isAway = false
        const waiting = wakeable()
        const unlisten = io.onSignal(() => {
          isOver = true
          waiting.wake()
        })
        try {
          for (;;) {
            let pause = options.every ?? 0
            try {
              const { lease } = await client.heartbeat(id, report)
              isAway = false
              printer.answer({ id, lease }, () => printer.line(`${id} is yours, the lease ends ${until(lease.expiresAt)}`))
            } catch (error) {
              // A server that restarts is no reason to give up: the work goes on, and the lease may outlast the pause.
              if (isOver || !isOutage(error)) throw error
              pause = Math.min(pause, afterOutage)
              if (!isAway) printer.note(`daybook: the lease of ${id} was not extended, and this is tried again: ${(error as Error).message}`)
              isAway = true
            }
            if (isOver) return
            await waiting.wait(pause * 1_000)
            if (isOver) return
          }
        } finally {
          unlisten()
        }
      },
    ))
