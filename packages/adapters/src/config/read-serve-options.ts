/** Reads the options of a server. A flag takes precedence over the environment, and the environment over the file. */
import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { QueueName } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { defined, ifDefined } from '../defined.js'
import { errorText } from '../error-text.js'
import { type ConfigFile, readConfigFile, type ServeTexts } from './config-file.js'
import type { Environment } from './environment.js'
import { readLauncher } from './launcher-choice.js'
import { requestLogChoices } from '../http/request-log/request-log.js'
import { ladderDefault } from '../files/snapshots/snapshot-ladder.js'
import { readMemory } from './memory-choice.js'
import { type CheckpointChoice, dataDirDefault, hostDefault, portDefault, type ServeOptions } from './serve-options.js'
import type { Problems } from './settings-file.js'
import { readStore } from './store-choice.js'
import { whyNoWebAddress } from './web-address.js'
import { readWebhooks } from './webhook-choices.js'

/** As given on the command line. */
export interface ServeFlags extends Omit<ServeTexts, 'pastUnreadable'> {
  readonly config?: string
  /** `QUEUE@REVISION` each. */
  readonly pastUnreadable?: ReadonlyArray<string>
}

/** `Left` lists everything that is wrong, not only the first problem. */
export const readServeOptions = async (flags: ServeFlags, env: Environment): Promise<E.Either<Problems, ServeOptions>> => {
  const file = flags.config === undefined ? E.right({}) : await openConfig(flags.config)
  if (E.isLeft(file)) return file
  const said: ConfigFile = file.right
  // An empty variable counts as not set.
  const variable = (name: string): string | undefined => env[name] || undefined

  const problems: Array<string> = []
  const host = flags.host ?? variable('DAYBOOK_HOST') ?? said.host ?? hostDefault
  if (host.trim() === '') problems.push('host is empty')
  const portText = flags.port ?? variable('DAYBOOK_PORT') ?? said.port ?? String(portDefault)
  const port = /^\d{1,5}$/.test(portText) ? Number(portText) : Number.NaN
  if (!(port <= 65_535)) problems.push(`port ${JSON.stringify(portText)} is not a number from 0 to 65535 (0 takes a free one)`)
  const auth = flags.auth ?? said.auth ?? 'tokens'
  if (auth !== 'tokens' && auth !== 'off') problems.push(`auth ${JSON.stringify(auth)} is neither "tokens" nor "off"`)
  const onOrOff = (name: string, text: string | undefined): string => {
    if (text !== undefined && text !== 'on' && text !== 'off') problems.push(`${name} ${JSON.stringify(text)} is neither "on" nor "off"`)
    return text ?? 'on'
  }
  const readModels = onOrOff('read-models', flags.readModels ?? said.readModels)
  const console = onOrOff('console', flags.console ?? said.console)
  // An empty path would mean the folder in which the server was started.
  const filled = (name: string, path: string | undefined): string | undefined => {
    if (path?.trim() === '') problems.push(`${name} is empty: give a path, or leave it out`)
    return path
  }
  const dataDir = resolve(filled('data', flags.data ?? variable('DAYBOOK_DATA') ?? said.data) ?? dataDirDefault)
  const store = readStore(flags.store ?? variable('DAYBOOK_STORE') ?? said.store, dataDir)
  if (E.isLeft(store)) problems.push(store.left)
  const past = readPastUnreadable(flags.pastUnreadable ?? said.pastUnreadable?.split(',') ?? [])
  problems.push(...past.problems)
  const clockJumpText = flags.clockJump ?? variable('DAYBOOK_CLOCK_JUMP') ?? said.clockJump
  const clockJumpMs = clockJumpText === undefined ? undefined : readClockJump(clockJumpText)
  if (Number.isNaN(clockJumpMs)) problems.push(`clock-jump ${JSON.stringify(clockJumpText)} is neither a number of seconds from ${clockJumpSecondsMin} on, nor "off"`)
  const logText = flags.logRequests ?? variable('DAYBOOK_LOG_REQUESTS') ?? said.logRequests ?? 'off'
  const logRequests = requestLogChoices.find((choice) => choice === logText)
  if (logRequests === undefined) problems.push(`log-requests ${JSON.stringify(logText)} is none of ${requestLogChoices.join(', ')}`)
  const countText = flags.pastSnapshots ?? variable('DAYBOOK_PAST_SNAPSHOTS') ?? said.pastSnapshots
  const count = readWhole(countText, ladderDefault.count, pastSnapshotsMax)
  if (Number.isNaN(count)) problems.push(`past-snapshots must be a whole number from 0 to ${pastSnapshotsMax}`)
  const mibText = flags.pastSnapshotsMib ?? variable('DAYBOOK_PAST_SNAPSHOTS_MIB') ?? said.pastSnapshotsMib
  const mib = readWhole(mibText, ladderDefault.bytes / 2 ** 20, 2 ** 30)
  if (Number.isNaN(mib)) problems.push('past-snapshots-mib must be a whole number of mebibytes')
  const everyText = flags.checkpoints ?? variable('DAYBOOK_CHECKPOINTS') ?? said.checkpoints
  const every = everyText === undefined ? undefined : readCheckpointSeconds(everyText)
  if (Number.isNaN(every)) problems.push(`checkpoints ${JSON.stringify(everyText)} is neither a number of seconds from 1 to 86400, nor "off"`)
  const checkpointKey = filled('checkpoint-key', flags.checkpointKey ?? variable('DAYBOOK_CHECKPOINT_KEY') ?? said.checkpointKey)
  const witness = filled('witness', flags.witness ?? variable('DAYBOOK_WITNESS') ?? said.witness)
  const noAddress = witness !== undefined && isAddress(witness) ? whyNoWebAddress(witness) : undefined
  if (noAddress !== undefined) problems.push(`witness ${noAddress}`)
  const certFile = filled('tls-cert', flags.tlsCert ?? variable('DAYBOOK_TLS_CERT') ?? said.tlsCert)
  const keyFile = filled('tls-key', flags.tlsKey ?? variable('DAYBOOK_TLS_KEY') ?? said.tlsKey)
  const queueFiles = filled('queue-files', flags.queueFiles ?? said.queueFiles)
  if ((certFile === undefined) !== (keyFile === undefined)) problems.push('tls-cert and tls-key go together: give both, or none')
  const memory = readMemory(said.memory, variable('DAYBOOK_MEMORY_TOKEN'), flags.config ?? 'config')
  if (E.isLeft(memory)) problems.push(...memory.left)
  const webhooks = readWebhooks(said.alerts, env, flags.config ?? 'config')
  if (E.isLeft(webhooks)) problems.push(...webhooks.left)
  const launcher = readLauncher(said.launcher, env, flags.config ?? 'config')
  if (E.isLeft(launcher)) problems.push(...launcher.left)
  if (E.isLeft(store) || E.isLeft(memory) || E.isLeft(webhooks) || E.isLeft(launcher) || problems.length > 0) return E.left(problems)

  const token = variable('DAYBOOK_TOKEN')
  return E.right({
    host,
    port,
    dataDir,
    store: store.right,
    ...(said.memory === undefined || said.memory === null ? {} : { memory: memory.right }),
    ...(readModels === 'off' ? { readModels } : {}),
    ...(console === 'off' ? { console } : {}),
    ...(every === 'off' ? { checkpoints: every } : every === undefined && checkpointKey === undefined && witness === undefined ? {} : { checkpoints: checkpointsOf(every, checkpointKey, witness) }),
    ...(webhooks.right.length === 0 ? {} : { webhooks: webhooks.right }),
    auth: auth === 'off' ? 'off' : 'tokens',
    ...defined({ token, queueFilesDir: ifDefined(queueFiles, (folder) => resolve(folder)), clockJumpMs, defaults: said.defaults, launcher: launcher.right }),
    ...(past.revisions.size === 0 ? {} : { pastUnreadable: Object.fromEntries(past.revisions) }),
    ...(countText === undefined && mibText === undefined ? {} : { pastSnapshots: { count, bytes: mib * 2 ** 20 } }),
    ...(logRequests === undefined || logRequests === 'off' ? {} : { logRequests }),
    ...(certFile === undefined || keyFile === undefined ? {} : { tls: { certFile: resolve(certFile), keyFile: resolve(keyFile) } }),
  })
}

/** Whenever a snapshot is taken, all kept ones are examined. */
const pastSnapshotsMax = 1_000

/** `NaN` unless the text is a whole number from 0 to `max`. */
const readWhole = (text: string | undefined, byDefault: number, max: number): number => {
  if (text === undefined) return byDefault
  return /^\d{1,12}$/.test(text.trim()) && Number(text) <= max ? Number(text) : Number.NaN
}

/** EventStoreDB reports its time in whole seconds, up to two seconds late. */
const clockJumpSecondsMin = 5

/** In milliseconds; `NaN` if the text is not valid. */
const readClockJump = (text: string): number => {
  if (text.trim() === 'off') return Number.POSITIVE_INFINITY
  const seconds = /^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN
  return seconds >= clockJumpSecondsMin ? seconds * 1_000 : Number.NaN
}

const readCheckpointSeconds = (text: string): number | 'off' => {
  if (text.trim() === 'off') return 'off'
  const seconds = /^\d{1,5}$/.test(text.trim()) ? Number(text) : Number.NaN
  return seconds >= 1 && seconds <= 86_400 ? seconds : Number.NaN
}

/** Whether a witness is one at an address, and no file. */
const isAddress = (witness: string): boolean => /^https?:\/\//.test(witness)

/** `witness`: a URL, or a file. */
const checkpointsOf = (seconds: number | undefined, keyFile: string | undefined, witness: string | undefined): CheckpointChoice =>
  defined({
    everyMs: ifDefined(seconds, (number) => number * 1_000),
    keyFile: ifDefined(keyFile, (file) => resolve(file)),
    witness: ifDefined(witness, (place) => (isAddress(place) ? place : resolve(place))),
  })

/** Reads `QUEUE@REVISION` texts. */
const readPastUnreadable = (given: ReadonlyArray<string>): { readonly revisions: ReadonlyMap<string, number>; readonly problems: Problems } => {
  const revisions = new Map<string, number>()
  const problems: Array<string> = []
  for (const text of given) {
    const [, queue = '', revision = ''] = /^\s*([^@]+)@(\d{1,15})\s*$/.exec(text) ?? []
    if (QueueName.is(queue)) revisions.set(queue, Number(revision))
    else problems.push(`past-unreadable ${JSON.stringify(text)} is not QUEUE@REVISION, as the server says it of a read-only queue`)
  }
  return { revisions, problems }
}

const openConfig = async (path: string): Promise<E.Either<Problems, ConfigFile>> => {
  try {
    return readConfigFile(await readFile(path, 'utf8'), path)
  } catch (error) {
    return E.left([`the config file ${path} cannot be read: ${errorText(error)}`])
  }
}
