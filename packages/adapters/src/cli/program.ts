/** The whole command line: all commands and their common parts. */
import { Command, CommanderError } from 'commander'
import { DaybookError } from '../client/index.js'
import { Cli } from './cli.js'
import { agentsCommand } from './commands/agents.js'
import { amendCommand } from './commands/amend.js'
import { approvalsCommand } from './commands/approvals.js'
import { archiveCommand } from './commands/archive.js'
import { auditCommand } from './commands/audit.js'
import { alertsCommand } from './commands/alerts.js'
import { breakersCommand } from './commands/breakers.js'
import { cancelCommand } from './commands/cancel.js'
import { claimCommand } from './commands/claim.js'
import { dlqCommand } from './commands/dead-letters.js'
import { depthCommand } from './commands/depth.js'
import { doctorCommand } from './commands/doctor.js'
import { enqueueCommand } from './commands/enqueue.js'
import { explainCommand } from './commands/explain.js'
import { exportCommand } from './commands/export.js'
import { historyCommand } from './commands/history.js'
import { importCommand } from './commands/import.js'
import { limitsCommand } from './commands/limits.js'
import { listCommand } from './commands/list.js'
import { bumpCommand } from './commands/bump.js'
import { eraseCommand } from './commands/erase.js'
import { callbackCommand, parkCommand } from './commands/park.js'
import { memoryCommand } from './commands/memory.js'
import { pauseCommand, resumeCommand } from './commands/pause.js'
import { projectCommand } from './commands/project.js'
import { queuesCommand } from './commands/queues.js'
import { reportCommand } from './commands/report.js'
import { restartCommand } from './commands/restart.js'
import { resultCommand } from './commands/result.js'
import { serveCommand } from './commands/serve.js'
import { schedulesCommand } from './commands/schedules.js'
import { completeCommand, failCommand, heartbeatCommand, releaseCommand } from './commands/settle.js'
import { simulateCommand } from './commands/simulate.js'
import { settingsCommand } from './commands/settings.js'
import { showCommand } from './commands/show.js'
import { watchCommand } from './commands/watch.js'
import { workCommand } from './commands/work.js'
import { addConnectionOptions } from './connection.js'
import { exitCodeOf, exitCodes } from './exit-codes.js'
import type { Io } from './io.js'
import { clean } from './text.js'

const commands = [
  serveCommand,
  enqueueCommand, listCommand, showCommand, resultCommand, explainCommand, historyCommand, watchCommand, cancelCommand, amendCommand, bumpCommand, restartCommand, eraseCommand, depthCommand,
  workCommand, claimCommand, completeCommand, failCommand, releaseCommand, heartbeatCommand,
  parkCommand, callbackCommand,
  dlqCommand, approvalsCommand, memoryCommand, breakersCommand, agentsCommand, alertsCommand,
  queuesCommand, settingsCommand, pauseCommand, resumeCommand, limitsCommand, schedulesCommand,
  importCommand, exportCommand, simulateCommand, auditCommand, reportCommand, doctorCommand, projectCommand, archiveCommand,
]

const program = (cli: Cli): Command => {
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
  for (const make of commands) root.addCommand(make(cli))
  const prepare = (command: Command): void => {
    command
      .exitOverride()
      .configureOutput({ writeOut: (text) => cli.io.out(text), writeErr: (text) => cli.io.err(text), getOutHasColors: () => false, getErrHasColors: () => false })
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
    await program(cli).parseAsync(args, { from: 'user' })
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
    if (code === 'unauthorized') io.err('  set DAYBOOK_TOKEN to the token that the server showed at its first start\n')
    if (exitCode === exitCodes.unreachable) io.err('  is the server running there? daybook serve starts one; --url or DAYBOOK_URL says where it is\n')
    return
  }
  if (isJson) return io.err(`${JSON.stringify({ error: { code: exitCode === exitCodes.usage ? 'usage' : 'failed', detail: message } })}\n`)
  io.err(`daybook: ${message}\n`)
}
