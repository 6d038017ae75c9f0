/** `alerts:` in the config file: the receivers of alerts. */
import { alertKinds, QueueName } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
// Not imported from its index: most commands read no configuration, and need not load the engine for it.
import { whyNotPublic } from '../webhooks/addresses.js'
import type { WebhookOptions } from '../webhooks/index.js'
import { readSecret, secretPrefix } from '../webhooks/signature.js'
import { isObject } from '../is-object.js'
import { type Environment, variableNamedBy } from './environment.js'
import type { Problems } from './settings-file.js'

const known = ['name', 'url', 'secret', 'kinds', 'queues', 'timeoutSeconds', 'allowPrivateAddresses']
const webhooksMax = 20
const secretsMax = 5
const nameMax = 100
const timeoutSecondsDefault = 15

/** Reads `{ webhooks: [{ url, secret, … }] }`. Problems name the path of the key, and never contain a secret. */
export const readWebhooks = (value: unknown, env: Environment, file: string): E.Either<Problems, ReadonlyArray<WebhookOptions>> => {
  if (value === undefined || value === null) return E.right([])
  if (!isObject(value)) return E.left([`${file}: alerts must be an object with webhooks`])
  const problems: Array<string> = Object.keys(value).filter((key) => key !== 'webhooks').map((key) => `${file}: alerts.${key} is not known here; known: webhooks. When alerts are raised is a setting of the queue: see defaults.alerts`)
  const { webhooks = [] } = value
  if (!Array.isArray(webhooks) || webhooks.length > webhooksMax) return E.left([...problems, `${file}: alerts.webhooks must be a list of ${webhooksMax} at most`])
  const read = webhooks.map((each: unknown, i) => {
    const at = (key: string, why: string): void => void problems.push(`${file}: alerts.webhooks.${i}${key === '' ? '' : `.${key}`} ${why}`)
    return isObject(each) ? readOne(each, env, at) : at('', 'must be an object with url and secret')
  })
  const names = new Set<string>()
  read.forEach((webhook, i) => {
    if (webhook === undefined) return
    if (names.has(webhook.name)) problems.push(`${file}: alerts.webhooks.${i}.name: there are two webhooks ${JSON.stringify(webhook.name)}: give each a name of its own`)
    names.add(webhook.name)
  })
  return problems.length > 0 ? E.left(problems) : E.right(read.filter((webhook) => webhook !== undefined))
}

const readOne = (value: Readonly<Record<string, unknown>>, env: Environment, at: (key: string, why: string) => void): WebhookOptions | undefined => {
  for (const key of Object.keys(value)) if (!known.includes(key)) at(key, `is not known; known: ${known.join(', ')}`)
  const { allowPrivateAddresses = false, timeoutSeconds = timeoutSecondsDefault } = value
  if (typeof allowPrivateAddresses !== 'boolean') at('allowPrivateAddresses', 'must be true or false')
  if (typeof timeoutSeconds !== 'number' || !(timeoutSeconds >= 1 && timeoutSeconds <= 60)) at('timeoutSeconds', 'must be a number from 1 to 60')
  const url = readUrl(value.url, allowPrivateAddresses === true, at)
  const secrets = readSecrets(value.secret, env, at)
  const kinds = readList(value.kinds, (kind) => (alertKinds as ReadonlyArray<string>).includes(kind), (why) => at('kinds', why), `one or more of ${alertKinds.join(', ')}`)
  const queues = readList(value.queues, (queue) => QueueName.is(queue), (why) => at('queues', why), 'names of queues')
  const { name = url?.host } = value
  if (name !== undefined && (typeof name !== 'string' || name.trim() === '' || name.length > nameMax)) return void at('name', `must be a text of 1 to ${nameMax} characters`)
  if (url === undefined || name === undefined) return undefined
  return { name, url: url.href, secrets, kinds, queues, timeoutMs: Number(timeoutSeconds) * 1_000, allowPrivateAddresses: allowPrivateAddresses === true }
}

const readUrl = (value: unknown, allowPrivate: boolean, at: (key: string, why: string) => void): URL | undefined => {
  const url = typeof value === 'string' && URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return void at('url', 'must be an address such as https://alerts.example.org/daybook')
  if (url.username !== '' || url.password !== '') return void at('url', 'must have no user and password: the signature says who sends')
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const why = /^[\d.]+$|:/.test(host) && !allowPrivate ? whyNotPublic(host) : undefined
  if (why !== undefined) return void at('url', `is ${why}: to send there, set allowPrivateAddresses: true for this webhook`)
  return url
}

/** One secret or several: `whsec_…`, or `env:NAME` for a secret in the environment. */
const readSecrets = (value: unknown, env: Environment, at: (key: string, why: string) => void): ReadonlyArray<Buffer> => {
  const given: ReadonlyArray<unknown> = Array.isArray(value) ? value : [value]
  if (value === undefined || given.length === 0 || given.length > secretsMax) {
    at('secret', `must be ${secretPrefix} and 24 to 64 bytes in base64, env:NAME of a variable that has such a secret, or a list of up to ${secretsMax}`)
    return []
  }
  return given.flatMap((each, i) => {
    const key = Array.isArray(value) ? `secret.${i}` : 'secret'
    const name = variableNamedBy(each)
    if (name !== undefined && !env[name]) {
      at(key, `names the variable ${name}, which is not set`)
      return []
    }
    const text = name === undefined ? each : env[name]
    const secret = typeof text === 'string' ? readSecret(text) : undefined
    if (secret === undefined) at(key, `must be ${secretPrefix} and 24 to 64 bytes in base64: for example ${secretPrefix}$(openssl rand -base64 32)`)
    return secret ?? []
  })
}

const readList = (value: unknown, isValid: (text: string) => boolean, at: (why: string) => void, wanted: string): ReadonlyArray<string> | undefined => {
  if (value === undefined || value === null) return undefined
  if (Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string' && isValid(each))) return value as ReadonlyArray<string>
  return void at(`must be a list of ${wanted}`)
}
