/** The whole command line: all commands and their common parts. */
import { Command, CommanderError } from 'commander'
import { DaybookError } from '@daybook/client/internal'
import { Cli } from './cli.js'
import { addConnectionOptions } from './connection.js'
import { exitCodeOf, exitCodes } from './exit-codes.js'
import type { Io } from './io.js'
import { withSuggestion } from './suggest/command-line.js'
import { clean } from './text.js'

/** In the order of the help. Only the one that is named is loaded, so each starts sooner. */
const commands: Readonly<Record<string, () => Promise<(cli: Cli) => Command>>> = {
  serve: async () => (await import('./commands/serve.js')).serveCommand,
  enqueue: async () => (await import('./commands/enqueue.js')).enqueueCommand,
  list: async () => (await import('./commands/list.js')).listCommand,
  show: async () => (await import('./commands/show.js')).showCommand,
  result: async () => (await import('./commands/result.js')).resultCommand,
  explain: async () => (await import('./commands/explain.js')).explainCommand,
  history: async () => (await import('./commands/history.js')).historyCommand,
  watch: async () => (await import('./commands/watch.js')).watchCommand,
  cancel: async () => (await import('./commands/cancel.js')).cancelCommand,
  amend: async () => (await import('./commands/amend.js')).amendCommand,
  bump: async () => (await import('./commands/bump.js')).bumpCommand,
  restart: async () => (await import('./commands/restart.js')).restartCommand,
  erase: async () => (await import('./commands/erase.js')).eraseCommand,
  depth: async () => (await import('./commands/depth.js')).depthCommand,
  work: async () => (await import('./commands/work.js')).workCommand,
  claim: async () => (await import('./commands/claim.js')).claimCommand,
  complete: async () => (await import('./commands/settle.js')).completeCommand,
  fail: async () => (await import('./commands/settle.js')).failCommand,
  release: async () => (await import('./commands/settle.js')).releaseCommand,
  heartbeat: async () => (await import('./commands/settle.js')).heartbeatCommand,
  park: async () => (await import('./commands/park.js')).parkCommand,
  callback: async () => (await import('./commands/park.js')).callbackCommand,
  dlq: async () => (await import('./commands/dead-letters.js')).dlqCommand,
  approvals: async () => (await import('./commands/approvals.js')).approvalsCommand,
  memory: async () => (await import('./commands/memory.js')).memoryCommand,
  breakers: async () => (await import('./commands/breakers.js')).breakersCommand,
  agents: async () => (await import('./commands/agents.js')).agentsCommand,
  alerts: async () => (await import('./commands/alerts.js')).alertsCommand,
  queues: async () => (await import('./commands/queues.js')).queuesCommand,
  settings: async () => (await import('./commands/settings.js')).settingsCommand,
  pause: async () => (await import('./commands/pause.js')).pauseCommand,
  resume: async () => (await import('./commands/pause.js')).resumeCommand,
  limits: async () => (await import('./commands/limits.js')).limitsCommand,
  schedules: async () => (await import('./commands/schedules.js')).schedulesCommand,
  token: async () => (await import('./commands/token.js')).tokenCommand,
  import: async () => (await import('./commands/import.js')).importCommand,
  export: async () => (await import('./commands/export.js')).exportCommand,
  simulate: async () => (await import('./commands/simulate.js')).simulateCommand,
  audit: async () => (await import('./commands/audit.js')).auditCommand,
  report: async () => (await import('./commands/report.js')).reportCommand,
  doctor: async () => (await import('./commands/doctor.js')).doctorCommand,
  project: async () => (await import('./commands/project.js')).projectCommand,
  archive: async () => (await import('./commands/archive.js')).archiveCommand,
  backup: async () => (await import('./commands/backup.js')).backupCommand,
}

/** The names of the commands that have to be loaded: that which the arguments name, or all if they name none. */
const namedIn = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const { options } = addConnectionOptions(new Command())
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] as string
    if (Object.hasOwn(commands, arg)) return [arg]
    const option = options.find(({ short, long }) => arg === short || arg === long)
    if (option === undefined) break
    if (option.required) i++
  }
  return Object.keys(commands)
}

const program = async (cli: Cli, names: ReadonlyArray<string>): Promise<Command> => {
  const root = addConnectionOptions(new Command('daybook'))
    .description('Daybook: a task queue that keeps every change as an event')
    .version('0.1.0', '-V, --version')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `
Exit codes: 0 done, 1 refused by the queue, 2 wrong usage, 3 server not reachable.

A first round:
  daybook serve                                        # in one terminal; it shows an admin token once
  export DAYBOOK_TOKEN=…                               # in another
  daybook enqueue eng-backend --payload '{"action":"implement"}'
  daybook work --types 'eng-*' -- ./examples/agent.sh
  daybook list
`)
  for (const make of await Promise.all(names.map((name) => (commands[name] as (typeof commands)[string])()))) root.addCommand(make(cli))
  const prepare = (command: Command): void => {
    command
      .exitOverride()
      .configureOutput({
        writeOut: (text) => cli.io.out(text),
        writeErr: (text) => cli.io.err(text),
        outputError: (text, write) => write(withSuggestion(command, text)),
        getOutHasColors: () => false,
        getErrHasColors: () => false,
      })
      .showSuggestionAfterError(false)
      .helpCommand(false)
      .showHelpAfterError(`(daybook ${pathOf(command)}--help tells more)`)
    for (const child of command.commands) prepare(child)
  }
  prepare(root)
  for (const command of root.commands) {
    if (command.name() !== 'serve') inheritHelp(command)
  }
  return root
}

const pathOf = (command: Command): string => {
  const names: Array<string> = []
  for (let at: Command | null = command; at !== null && at.parent !== null; at = at.parent) names.unshift(at.name())
  return names.map((name) => `${name} `).join('')
}

const inheritHelp = (command: Command): void => {
  command.configureHelp({ ...command.configureHelp(), showGlobalOptions: true })
  for (const child of command.commands) inheritHelp(child)
}

/** Runs one command line, without the program's name. Resolves to the exit code; never rejects. */
export const run = async (args: ReadonlyArray<string>, io: Io): Promise<number> => {
  const cli = new Cli(io)
  try {
    await (await program(cli, namedIn(args))).parseAsync(args, { from: 'user' })
    return cli.exitCode
  } catch (error) {
    const code = exitCodeOf(error)
    // Commander has printed its own errors, help and version already.
    if (!(error instanceof CommanderError)) tell(error, code, io, args.includes('--json'))
    return code
  }
}

const tell = (error: unknown, exitCode: number, io: Io, isJson: boolean): void => {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof DaybookError) {
    const { code, detail, status, errors } = error
    if (isJson) return io.err(`${JSON.stringify({ error: { code, detail, status, errors } })}\n`)
    io.err(`daybook: ${code}: ${clean(detail)}\n`)
    // A single wrong field is already in `detail`.
    for (const field of (errors ?? []).filter(({ path, message: why }) => !detail.includes(path) || !detail.includes(why))) io.err(`  ${clean(field.path)} ${clean(field.message)}\n`)
    if (code === 'unauthorized') io.err('  set DAYBOOK_TOKEN to a token that an admin made for you, or to the one that the server showed at its first start\n')
    if (exitCode === exitCodes.unreachable && /certificate/i.test(detail)) io.err('  this machine does not trust the certificate of the server: NODE_EXTRA_CA_CERTS=ca.pem names one of an authority to trust\n')
    else if (exitCode === exitCodes.unreachable) io.err('  is the server running there? daybook serve starts one; --url or DAYBOOK_URL says where it is\n')
    return
  }
  if (isJson) return io.err(`${JSON.stringify({ error: { code: exitCode === exitCodes.usage ? 'usage' : 'failed', detail: message } })}\n`)
  io.err(`daybook: ${message}\n`)
}
