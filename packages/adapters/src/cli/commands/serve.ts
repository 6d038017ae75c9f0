import { userInfo } from 'node:os'
import { resolve } from 'node:path'
import { Command } from 'commander'
import * as E from 'fp-ts/lib/Either.js'
import { readServeOptions, type ServeFlags } from '../../config/index.js'
import { errorText } from '../../error-text.js'
import { returnMemory } from '../../return-memory.js'
import type { RunningServer } from '../../serve/index.js'
import { StoreUnreachable } from '../../store/event-store.js'
import { type Cli, examples } from '../cli.js'
import type { ConnectionOptions } from '../connection.js'
import { CliError, exitCodes, UsageError } from '../exit-codes.js'
import { firstStartText } from '../first-start.js'
import { clearProgress, createProgress } from '../progress.js'
import { list } from '../values.js'

export const serveCommand = (cli: Cli): Command =>
  new Command('serve')
    .description('run the server')
    .option('--host <address>', 'where to listen (env DAYBOOK_HOST; default 127.0.0.1)')
    .option('--port <port>', 'on which port, 0 for a free one (env DAYBOOK_PORT; default 7878)')
    .option('--data <folder>', 'where log, tokens and snapshots are kept (env DAYBOOK_DATA; default ./daybook-data)')
    .option('--store <store>', 'sqlite:FILE, sqlite+shared:FILE, esdb://… or kurrentdb://… for EventStoreDB or KurrentDB, or memory: to forget everything at the end (env DAYBOOK_STORE; default: a file in the data folder)')
    .option('--config <file>', 'YAML: any of these options, and defaults for new queues')
    .option('--queue-files <folder>', 'keep pending.json, completed.json and so on there, for tools that read them')
    .option('--read-models <on|off>', 'whether views.db, tables of all tasks for sqlite3 and reports, is kept in the data folder (default on)')
    .option('--console <on|off>', 'whether the web console is served at / (default on)')
    .option('--past-unreadable <queue@revision>', 'decide on a queue although events up to this revision cannot be read and what they say is lost; repeatable', list)
    .option('--clock-jump <seconds>', 'refuse commands when the clock has jumped ahead by more, or is ahead of EventStoreDB\'s by more; "off" for never (env DAYBOOK_CLOCK_JUMP; default 300)')
    .option('--checkpoints <seconds>', 'sign a checkpoint of each log that grew, this often, so that daybook audit verify finds a log that was cut short or written anew; "off" for never (env DAYBOOK_CHECKPOINTS; default 60)')
    .option('--checkpoint-key <file>', 'the private key that signs them; made if it is not there (env DAYBOOK_CHECKPOINT_KEY; default: checkpoint-key.pem in the data folder)')
    .option('--witness <file|url>', 'also send each checkpoint there: append it to a file, or post it to a URL (env DAYBOOK_WITNESS)')
    .option('--past-snapshots <count>', 'older snapshots to keep of each queue, so that questions about the past take no long replay; 0 for none (env DAYBOOK_PAST_SNAPSHOTS; default 200)')
    .option('--past-snapshots-mib <size>', 'how large they may be together, in MiB for each queue (env DAYBOOK_PAST_SNAPSHOTS_MIB; default 1024)')
    .option('--log-requests <which>', 'a line on stderr for requests: errors (refused, failed or slow), sampled (some of the others as well), all, or off (env DAYBOOK_LOG_REQUESTS; default off)')
    .option('--tls-cert <file>', 'serve HTTPS: the certificate, in PEM, followed by the intermediate certificates (env DAYBOOK_TLS_CERT)')
    .option('--tls-key <file>', 'its private key, in PEM (env DAYBOOK_TLS_KEY)')
    .option('--auth <mode>', '"off" lets everybody in; on a loopback address only')
    .addHelpText('after', `
Ready is one line on stdout with the URL, and /readyz. The first start makes an admin token and shows it once;
DAYBOOK_TOKEN sets one instead. SIGTERM, SIGINT and SIGHUP: no new work, what is in flight is answered, exit code 0.

Queue files are written whole shortly after each change. Where that fails, the server goes on and tries again: /readyz
names it as "degraded", and daybook doctor says why.

Several servers may work on the same queues: on one EventStoreDB, or on one file as sqlite+shared:FILE. Each needs a
--data of its own.

A queue whose log holds an event that this version cannot read is read-only here: a newer server wrote it (update this
one), or it is damaged for good. --past-unreadable says that nothing of it will be missed.

A wrong time in the log stays there. So if the clock jumps ahead by more than --clock-jump, it is not used: commands are
refused with the code "clock", and /readyz says why, until it is right again. A clock that is behind does no harm: time
goes on from the last event.

With --tls-cert and --tls-key the server speaks HTTPS, and WebSockets go over it as well. Renewed files are used within a
minute. Clients that do not know the authority that signed it are given its certificate: NODE_EXTRA_CA_CERTS=ca.pem daybook …

Configuration file:
  port: 7878
  queueFiles: .loki/queue
  defaults:                    # settings that new queues begin with
    decisionReport: optional
    defaults: { timeout: 600 }
  breakers:                    # or give circuit-breakers.yaml itself
    defaults: { failureThreshold: 5 }
    overrides: { ops-security: { failureThreshold: 3 } }
  alerts:                      # who is told of alerts, besides the log (see daybook alerts --help)
    webhooks:
      - url: https://alerts.example.org/daybook
        secret: env:WEBHOOK_SECRET
  launcher:                    # start a program for each task, as daybook work does (see daybook work --help)
    command: [./examples/agent.sh]
    env: { DAYBOOK_TOKEN: 'env:AGENT_TOKEN' }  # they get the server's environment, but none of its DAYBOOK_ variables
    types: ['eng-*']
    concurrency: 4             # each is an agent, within capacity.maxConcurrentAgents
    queues: [default]
${examples('daybook serve', 'daybook serve --port 0 --store memory: --auth off', "daybook serve --store 'esdb://db1:2113,db2:2113,db3:2113?tls=false'", 'daybook serve --host 0.0.0.0 --tls-cert fullchain.pem --tls-key privkey.pem', 'DAYBOOK_TOKEN=… daybook serve --data /var/lib/daybook --queue-files .loki/queue')}`)
    .configureHelp({ showGlobalOptions: false })
    .action(cli.local<ServeFlags>(async (printer, flags, command) => {
      const { io } = cli
      // A variable with the same meaning for clients may be set on this machine, so only the options are refused.
      const { token, url: clientsUrl, queue } = command.optsWithGlobals<ConnectionOptions>()
      if (token !== undefined) throw new UsageError(tokenAdvice)
      if (clientsUrl !== undefined) throw new UsageError('--url says where a client finds a server: --host and --port say where this one listens')
      if (queue !== undefined) throw new UsageError('--queue says which queue a client means: a server has all queues of its log')
      const read = await readServeOptions(flags, io.env)
      if (E.isLeft(read)) throw new UsageError(read.left.join('\n'))
      // Loaded only here: all other commands start three times as fast without the server.
      const { serve } = await import('../../serve/index.js')

      let stop: () => void = () => undefined
      let signals = 0
      const stopped = new Promise<void>((resolve) => (stop = resolve))
      const ended = new AbortController()
      const unlisten = io.onSignal(() => {
        // A second signal ends the process at once.
        if (++signals > 1) process.exit(exitCodes.interrupted)
        stop()
        ended.abort()
      })
      try {
        const progress = createProgress(io, printer, { lineEveryMs })
        // People read what a start says. Afterwards, programs read the log as well: each line is JSON, and has its time.
        let warn = (message: string): void => printer.note(`daybook: ${message}`)
        const starting = serve(read.right, {
          warn: (message) => warn(message),
          progress: ({ queue, events, of }) => {
            if (of > 0) progress(`reading the log: ${queue}, ${events} of ${of} events`)
          },
          signal: ended.signal,
        })
        // Also where nothing is printed next: a start that is stopped may still take a while to end.
        const server = await Promise.race([starting, stopped.then(() => undefined)]).finally(() => clearProgress(io))
        const presentToken = ({ url, adminToken }: RunningServer): void => {
          if (adminToken === undefined) return
          // The token is in the fragment, which a browser sends to nobody. The console removes it from the address at once.
          const opens = read.right.console === 'off' ? undefined : `${url}/#token=${encodeURIComponent(adminToken)}`
          printer.note(firstStartText({ url, adminToken, console: opens, store: read.right.store, dataDir: resolve(read.right.dataDir) }, io.env))
        }
        if (server === undefined) {
          // Stopped while the log was still being read.
          const late = await starting.catch(() => undefined)
          if (late !== undefined) {
            // Nobody will see the token again.
            presentToken(late)
            await late.close()
          }
          return exitCodes.done
        }
        ;({ warn } = server)
        await returnMemory()
        const { url, adminToken } = server
        if (!printer.isJson) presentToken(server)
        printer.answer({ url, ...(adminToken === undefined ? {} : { adminToken }) }, () => printer.line(`daybook: ready at ${url}`))
        await stopped
        await server.close()
        return exitCodes.done
      } catch (error) {
        // Its exit code tells a log that is away from one that cannot be used.
        throw error instanceof StoreUnreachable ? error : new CliError(startProblem(error, read.right.host, read.right.port))
      } finally {
        unlisten()
      }
    }))

/** How often a long start says in a log how far it is, in milliseconds. */
const lineEveryMs = 10_000

const tokenAdvice = '--token says who a client is, and a server makes its own: DAYBOOK_TOKEN sets its admin token, daybook token create makes others (docs/tokens.md)'

const startProblem = (error: unknown, host: string, port: number): string => {
  const { code, syscall, path } = error as NodeJS.ErrnoException
  if (code === 'EADDRINUSE') return `${host}:${port} is in use, perhaps by another daybook: stop that one, or give another --port (0 takes a free one)`
  if (code === 'EACCES' && syscall === 'listen') return `${host}:${port} may not be listened on: give a --port above 1023`
  if ((code === 'EACCES' || code === 'EPERM') && path !== undefined) return mayNotUse(path, (error as Error).message)
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') return `${host} is no address of this machine: give another --host`
  return errorText(error)
}

/** A restore as root leaves such files. */
const mayNotUse = (path: string, reason: string): string =>
  `the user ${userName()}, as which the server runs, may not use ${path} (${reason}): run it as the owner of its data, or give that user the files with chown, as is needed after a restore by root`

/** The number, if the user has no name. */
const userName = (): string => {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.())
  }
}
