/** The frame of every command: a session with the server, a printer, and an exit code. */
import type { Command } from 'commander'
import type { DaybookClient } from '../client/index.js'
import { connect, type Connection, type ConnectionOptions, readConnection } from './connection.js'
import { exitCodes } from './exit-codes.js'
import type { Io } from './io.js'
import { noteUnused } from './note-unused.js'
import { createPrinter, type Printer } from './printer.js'

/** The context of a command that talks to a server. */
export interface Session {
  readonly io: Io
  readonly printer: Printer
  readonly client: DaybookClient
  readonly connection: Connection
}

/** The exit code; `undefined` means `done`. */
export type Ending = number | void

export class Cli {
  exitCode: number = exitCodes.done
  /** What is wrong with the command line, as the parser of the options says it. */
  wrongUsage: string | undefined

  constructor(readonly io: Io) {}

  printer(command: Command): Printer {
    return createPrinter(this.io, command.optsWithGlobals<ConnectionOptions>().json === true)
  }

  /** The server, token and queue that the options or the environment name. */
  connection(command: Command): Connection {
    return readConnection(command.optsWithGlobals<ConnectionOptions>(), this.io.env)
  }

  /** An action that talks to a server: `run(session, options, ...arguments)`. */
  connected<O extends object, A extends ReadonlyArray<unknown> = ReadonlyArray<string>>(
    run: (session: Session, options: O, ...args: A) => Promise<Ending>,
  ): (...args: ReadonlyArray<unknown>) => Promise<void> {
    return this.local<O, A>(async (printer, options, command, ...args) => {
      const connection = this.connection(command)
      const client = connect(connection)
      try {
        const ending = await run({ io: this.io, printer, client, connection }, options, ...args)
        if (printer.wasEmpty() && command.name() !== 'queues') await noteUnused(printer, client)
        return ending
      } finally {
        // It would wait for answers that nobody wants any more, as when `top` is quit.
        client.close().catch(() => undefined)
      }
    })
  }

  /** An action that needs no server. */
  local<O extends object, A extends ReadonlyArray<unknown> = ReadonlyArray<string>>(
    run: (printer: Printer, options: O, command: Command, ...args: A) => Promise<Ending>,
  ): (...args: ReadonlyArray<unknown>) => Promise<void> {
    return async (...given) => {
      // Commander passes the arguments, then the options, then the command.
      const command = given[given.length - 1] as Command
      const args: ReadonlyArray<unknown> = given.slice(0, -2)
      this.exitCode = (await run(this.printer(command), command.opts<O>(), command, ...(args as A))) ?? exitCodes.done
    }
  }
}

/** Examples at the end of a command's help. */
export const examples = (...lines: ReadonlyArray<string>): string =>
  `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`
