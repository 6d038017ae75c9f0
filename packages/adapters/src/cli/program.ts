/** The whole command line: all commands and their common parts. */
import { Command, CommanderError } from 'commander'
import { DaybookError } from '@daybook/client/internal'
import { errorText } from '../error-text.js'
import { Cli } from './cli.js'
import { namesOf, pathOf } from './command-path.js'
import { addConnectionOptions } from './connection.js'
import { exitCodeOf, exitCodes, UsageError } from './exit-codes.js'
import type { Io } from './io.js'
import { addEnding } from './help-ending.js'
import { clearProgress } from './progress.js'
import { withSuggestion } from './suggest/command-line.js'
import { clean, cleanLines } from './text.js'
import { path } from './values.js'

type Make = () => Promise<(cli: Cli) => Command>

/** Commands by purpose, in the order of the help. Only the named command is loaded, so that each starts sooner. */
const groups: Readonly<Record<string, Readonly<Record<string, Make>>>> = {
  'Enqueue tasks': {
    enqueue: async () => (await import('./commands/enqueue.js')).enqueueCommand,
    import: async () => (await import('./commands/import.js')).importCommand,
    batch: async () => (await import('./commands/batch.js')).batchCommand,
    schedules: async () => (await import('./commands/schedules.js')).schedulesCommand,
    callback: async () => (await import('./commands/park.js')).callbackCommand,
  },
  'Work on tasks': {
    work: async () => (await import('./commands/work.js')).workCommand,
    claim: async () => (await import('./commands/claim.js')).claimCommand,
    complete: async () => (await import('./commands/settle.js')).completeCommand,
    fail: async () => (await import('./commands/settle.js')).failCommand,
    release: async () => (await import('./commands/settle.js')).releaseCommand,
    heartbeat: async () => (await import('./commands/settle.js')).heartbeatCommand,
    park: async () => (await import('./commands/park.js')).parkCommand,
    agents: async () => (await import('./commands/agents.js')).agentsCommand,
  },
  'See what is going on': {
    top: async () => (await import('./commands/top.js')).topCommand,
    list: async () => (await import('./commands/list.js')).listCommand,
    show: async () => (await import('./commands/show.js')).showCommand,
    depth: async () => (await import('./commands/depth.js')).depthCommand,
    queues: async () => (await import('./commands/queues.js')).queuesCommand,
    watch: async () => (await import('./commands/watch.js')).watchCommand,
    alerts: async () => (await import('./commands/alerts.js')).alertsCommand,
  },
  'Ask why, and what was': {
    explain: async () => (await import('./commands/explain.js')).explainCommand,
    history: async () => (await import('./commands/history.js')).historyCommand,
    result: async () => (await import('./commands/result.js')).resultCommand,
    report: async () => (await import('./commands/report.js')).reportCommand,
    audit: async () => (await import('./commands/audit.js')).auditCommand,
    memory: async () => (await import('./commands/memory.js')).memoryCommand,
  },
  'Step in': {
    cancel: async () => (await import('./commands/cancel.js')).cancelCommand,
    amend: async () => (await import('./commands/amend.js')).amendCommand,
    bump: async () => (await import('./commands/bump.js')).bumpCommand,
    restart: async () => (await import('./commands/restart.js')).restartCommand,
    pause: async () => (await import('./commands/pause.js')).pauseCommand,
    resume: async () => (await import('./commands/pause.js')).resumeCommand,
    dlq: async () => (await import('./commands/dead-letters.js')).dlqCommand,
    breakers: async () => (await import('./commands/breakers.js')).breakersCommand,
    approvals: async () => (await import('./commands/approvals.js')).approvalsCommand,
    erase: async () => (await import('./commands/erase.js')).eraseCommand,
  },
  'Run a server and set it up': {
    serve: async () => (await import('./commands/serve.js')).serveCommand,
    settings: async () => (await import('./commands/settings.js')).settingsCommand,
    limits: async () => (await import('./commands/limits.js')).limitsCommand,
    token: async () => (await import('./commands/token.js')).tokenCommand,
    doctor: async () => (await import('./commands/doctor.js')).doctorCommand,
    simulate: async () => (await import('./commands/simulate.js')).simulateCommand,
    project: async () => (await import('./commands/project.js')).projectCommand,
  },
  'Keep and move what is there': {
    export: async () => (await import('./commands/export.js')).exportCommand,
    archive: async () => (await import('./commands/archive.js')).archiveCommand,
    backup: async () => (await import('./commands/backup.js')).backupCommand,
  },
  'Live with the command line': {
    completion: async () => (await import('./commands/completion.js')).completionCommand,
    man: async () => (await import('./commands/man.js')).manCommand,
  },
}
const commands: Readonly<Record<string, Make>> = Object.assign({}, ...Object.values(groups)) as Record<string, Make>
const groupOf = (name: string): string => Object.keys(groups).find((group) => Object.hasOwn(groups[group] as object, name)) ?? ''

/** The names of the commands to load: the one that the arguments name, or all if they name none. */
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

/** `isJson`: wrong usage is only kept in `cli`, to be told as JSON. */
const program = async (cli: Cli, names: ReadonlyArray<string>, isJson = false): Promise<Command> => {
  const root = addConnectionOptions(new Command('daybook'))
    .description('Daybook: a task queue that keeps every change as an event')
    .version('0.1.0', '-V, --version')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', `
A first round:
  daybook serve                                        # in one terminal; it shows an admin token once
  export DAYBOOK_TOKEN=…                               # in another
  daybook enqueue eng-backend --payload '{"action":"implement"}'
  daybook work --types 'eng-*' -- ./examples/agent.sh
  daybook list
`)
  const made = await Promise.all(names.map(async (name) => ({ name, make: await (commands[name] as Make)() })))
  for (const { name, make } of made) root.addCommand(make(cli).helpGroup(`${groupOf(name)}:`))
  const prepare = (command: Command): void => {
    addEnding(command, pathOf(command))
    // `serve` names all that is wrong with its options at once.
    if (command.name() !== 'serve') refuseEmptyPaths(command)
    command
      .exitOverride()
      .configureOutput({
        writeOut: (text) => cli.io.out(text),
        writeErr: (text) => (isJson ? undefined : cli.io.err(text)),
        outputError: (text, write) => write((cli.wrongUsage = withSuggestion(command, text))),
        getOutHasColors: () => false,
        getErrHasColors: () => false,
      })
      .showSuggestionAfterError(false)
      .helpCommand(false)
      .showHelpAfterError(`(${namesOf(command).join(' ')} --help tells more)`)
    for (const child of command.commands) prepare(child)
  }
  prepare(root)
  for (const command of root.commands) {
    if (command.name() !== 'serve') inheritHelp(command)
  }
  return root
}

/** Names of values that are paths. */
const paths = /[<[](?:file|folder|path|store)[>\]]/
/** An empty path names the folder in which the command runs, or nothing: a variable of a script was probably not set. */
const refuseEmptyPaths = ({ options, registeredArguments }: Command): void => {
  for (const option of options) if (option.parseArg === undefined && paths.test(option.flags)) option.argParser(path)
  for (const argument of registeredArguments) if (argument.parseArg === undefined && paths.test(`<${argument.name()}>`)) argument.argParser(path)
}

const inheritHelp = (command: Command): void => {
  command.configureHelp({ ...command.configureHelp(), showGlobalOptions: true })
  for (const child of command.commands) inheritHelp(child)
}

/** The commands that a command line may mean: all, if it names none yet. */
export const treeFor = (cli: Cli, args: ReadonlyArray<string>): Promise<Command> => program(cli, namedIn(args))

/** Runs one command line, without the program's name. Resolves to the exit code; never rejects. */
export const run = async (args: ReadonlyArray<string>, io: Io): Promise<number> => {
  const cli = new Cli(io)
  // What comes behind -- is for the program that `work` runs.
  const isJson = args.slice(0, args.includes('--') ? args.indexOf('--') : undefined).includes('--json')
  try {
    await (await program(cli, namedIn(args), isJson)).parseAsync(args, { from: 'user' })
    clearProgress(io)
    return cli.exitCode
  } catch (error) {
    const code = exitCodeOf(error)
    clearProgress(io)
    // Commander has printed its own errors, help and version already, but never as JSON.
    if (!(error instanceof CommanderError)) tell(error, code, { ...io, err: (text) => io.err(isJson ? text : asTyped(text, args)) }, isJson)
    else if (isJson && code === exitCodes.usage) tell(new UsageError(wrongUsageOf(cli)), code, io, true)
    return code
  }
}

/** Without a command, commander prints the help instead of an error. */
const wrongUsageOf = ({ wrongUsage = 'a command is missing: --help lists them' }: Cli): string => wrongUsage.replace(/^error: /, '').trimEnd()

/** A server that refuses a value calls it `query.atLeast` or `filter.type`. Whoever typed `--at-least` or `--type` reads that. */
const asTyped = (text: string, args: ReadonlyArray<string>): string =>
  text.replace(/\b(?:query|filter)\.(\w+)/g, (path, name: string) => {
    const option = name === 'q' ? '--search' : `--${name.replace(/Id$/, '').replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
    return args.some((arg) => arg === option || arg.startsWith(`${option}=`)) ? option : path
  })

/** By exit code, of an error that no server has answered with. */
const codes: Readonly<Record<number, string>> = { [exitCodes.usage]: 'usage', [exitCodes.unreachable]: 'unreachable' }

const tell = (error: unknown, exitCode: number, io: Io, isJson: boolean): void => {
  const message = errorText(error)
  if (error instanceof DaybookError) {
    const { code, detail, status, errors } = error
    if (isJson) return io.err(`${JSON.stringify({ error: { code, detail, status, errors } })}\n`)
    io.err(`daybook: ${code}: ${clean(detail)}\n`)
    // A single wrong field is in `detail` already.
    for (const field of (errors ?? []).filter(({ path, message: why }) => !detail.includes(path) || !detail.includes(why))) io.err(`  ${clean(field.path)} ${clean(field.message)}\n`)
    if (code === 'invalid' && (errors ?? []).some(({ path }) => path === 'agentId')) io.err('  --agent gives the name\n')
    if (code === 'unauthorized') io.err('  set DAYBOOK_TOKEN to a token that an admin made for you, or to the one that the server showed at its first start\n')
    if (exitCode === exitCodes.unreachable && /certificate/i.test(detail)) io.err('  this machine does not trust the certificate of the server: NODE_EXTRA_CA_CERTS=ca.pem names one of an authority to trust\n')
    else if (exitCode === exitCodes.unreachable && /did not answer in time/.test(detail)) io.err('  it may be busy, or its disk may hang: its log and its /readyz say more\n')
    else if (exitCode === exitCodes.unreachable) io.err('  is the server running there? daybook serve starts one; --url or DAYBOOK_URL says where it is\n')
    return
  }
  if (isJson) return io.err(`${JSON.stringify({ error: { code: codes[exitCode] ?? 'failed', detail: message } })}\n`)
  io.err(`daybook: ${cleanLines(message)}\n`)
}
