/** Server, token and queue: the same options for every command. */
import type { Command} from 'commander';
import { Option } from 'commander'
import { QueueName } from '@daybook/core/common'
import { isToken } from '@daybook/client/common'
import { createClient, type DaybookClient } from '../client/index.js'
import { UsageError } from './exit-codes.js'
import type { Io } from './io.js'

export interface ConnectionOptions {
  readonly url?: string
  readonly token?: string
  readonly queue?: string
  readonly json?: boolean
}

export const urlDefault = 'http://127.0.0.1:7878'

export const addConnectionOptions = (program: Command): Command =>
  program
    .addOption(new Option('--url <url>', `the server (env DAYBOOK_URL; default ${urlDefault})`))
    .addOption(new Option('--token <token>', 'who you are (env DAYBOOK_TOKEN, which keeps it out of the process list)'))
    .addOption(new Option('--queue <name>', 'the queue (env DAYBOOK_QUEUE; default "default")'))
    .addOption(new Option('--json', 'one JSON document on stdout instead of text for people'))

export interface Connection {
  readonly url: string
  readonly token: string | undefined
  readonly queue: string
  /** The queue, if `--queue` names it. */
  readonly namedQueue: string | undefined
}

/** An empty variable counts as not set. */
export const readConnection = (options: ConnectionOptions, env: Io['env']): Connection => {
  const url = options.url ?? (env.DAYBOOK_URL || urlDefault)
  if (!/^https?:\/\/[^/]/.test(url) || !URL.canParse(url)) throw new UsageError(`--url ${JSON.stringify(url)} is not an address like ${urlDefault}`)
  const queue = options.queue ?? (env.DAYBOOK_QUEUE || 'default')
  if (!QueueName.is(queue)) throw new UsageError(`--queue ${JSON.stringify(queue)} is not a ${QueueName.name}`)
  const token = options.token ?? (env.DAYBOOK_TOKEN || undefined)
  if (token !== undefined && !isToken(token)) throw new UsageError('the token holds characters that no token has: copy it again')
  return { url, token, queue, namedQueue: options.queue }
}

/** How long a command retries if the server does not answer, in milliseconds: long enough for a quick restart, and short enough to wait for. */
const retryForMs = 1_000

export const connect = ({ url, token, queue }: Connection): DaybookClient =>
  createClient({ url, queue, agentName: 'daybook-cli', retryForMs, ...(token === undefined ? {} : { token }) })
