/** The file given with `--config`. */
import type { SettingsPatch } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { isObject } from '../is-object.js'
import { checkPatch, isBreakersFile, parseYaml, type Problems } from './settings-file.js'

const texts = ['host', 'port', 'data', 'store', 'queueFiles', 'auth', 'readModels', 'console', 'pastUnreadable', 'clockJump', 'logRequests', 'tlsCert', 'tlsKey', 'pastSnapshots', 'pastSnapshotsMib', 'checkpointKey', 'witness', 'checkpoints'] as const
/** What a server is told in words, each in the file and on the command line. `readServeOptions` knows what each may be. */
export type ServeTexts = { readonly [Name in (typeof texts)[number]]?: string }

/** The members of the file. All are optional, and named like the flags. Several `QUEUE@REVISION` in `pastUnreadable` are separated by commas. */
export interface ConfigFile extends ServeTexts {
  /** As it is in the file: see `memory-choice.ts`. */
  readonly memory?: unknown
  /** As it is in the file: see `webhook-choices.ts`. */
  readonly alerts?: unknown
  readonly defaults?: SettingsPatch
  /** As it is in the file: see `launcher-choice.ts`. */
  readonly launcher?: unknown
}

/** What has a reader of its own. */
const readElsewhere = ['memory', 'alerts', 'launcher'] as const
const known: ReadonlyArray<string> = [...texts, ...readElsewhere, 'defaults', 'breakers']

/**
 * `defaults:` is a settings patch for new queues. `breakers:` is the part of it that people often keep in a separate file, so a
 * `circuit-breakers.yaml` is accepted as the whole file, too.
 */
export const readConfigFile = (text: string, name: string): E.Either<Problems, ConfigFile> => {
  const parsed = parseYaml(text, name)
  if (E.isLeft(parsed)) return parsed
  const value = parsed.right ?? {}
  if (!isObject(value)) return E.left([`${name}: holds no settings, but ${Array.isArray(value) ? 'a list' : `a ${typeof value}`}`])
  if (isBreakersFile(value)) return withDefaults({}, { breakers: value }, name)

  const problems: Array<string> = Object.keys(value)
    .filter((key) => !known.includes(key))
    .map((key) => `${name}: ${key} is not known here; known: ${known.join(', ')}`)
  const said: Record<string, unknown> = {}
  for (const key of readElsewhere) if (value[key] !== undefined) said[key] = value[key]
  for (const key of texts) {
    const given = value[key]
    // YAML reads an unquoted `off` as text, but `port: 80` as a number.
    if (typeof given === 'string' || typeof given === 'number') said[key] = String(given)
    else if (given === false && (key === 'auth' || key === 'readModels' || key === 'console' || key === 'clockJump' || key === 'logRequests')) said[key] = 'off'
    else if (given === true && (key === 'readModels' || key === 'console')) said[key] = 'on'
    else if (given !== undefined && given !== null) problems.push(`${name}: ${key} must be a text`)
  }
  if (problems.length > 0) return E.left(problems)
  const { defaults, breakers } = value
  if (defaults === undefined && breakers === undefined) return E.right(said)
  if (defaults !== undefined && defaults !== null && !isObject(defaults)) return E.left([`${name}: defaults must be an object of settings`])
  if (isObject(defaults) && defaults.breakers !== undefined && breakers !== undefined) {
    return E.left([`${name}: breakers stand twice, under defaults and by themselves: keep one`])
  }
  return withDefaults(said, { ...defaults, ...(breakers === undefined ? {} : { breakers }) }, name)
}

const withDefaults = (said: ConfigFile, patch: unknown, name: string): E.Either<Problems, ConfigFile> => {
  const checked = checkPatch(patch, name, 'defaults')
  return E.isLeft(checked) ? checked : E.right({ ...said, defaults: checked.right })
}
