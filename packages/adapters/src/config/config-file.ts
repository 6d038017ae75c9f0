/** The file given with `--config`. */
import type { SettingsPatch } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { checkPatch, isBreakersFile, isObject, parseYaml, type Problems } from './settings-file.js'

/** Its members, all optional, named like the flags. */
export interface ConfigFile {
  readonly host?: string
  readonly port?: string
  readonly data?: string
  readonly store?: string
  readonly queueFiles?: string
  readonly auth?: string
  /** `QUEUE@REVISION`, several with commas. */
  readonly pastUnreadable?: string
  /** Seconds, or `off`. */
  readonly clockJump?: string
  /** As it stands in the file: see `memory-choice.ts`. */
  readonly memory?: unknown
  readonly defaults?: SettingsPatch
}

const texts = ['host', 'port', 'data', 'store', 'queueFiles', 'auth', 'pastUnreadable', 'clockJump'] as const
const known: ReadonlyArray<string> = [...texts, 'memory', 'defaults', 'breakers']

/**
 * `defaults:` is a settings patch for new queues. `breakers:` is the part of it that people often keep in a file of
 * its own: such a `circuit-breakers.yaml` is accepted as the whole file, too.
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
  const said: Record<string, unknown> = value.memory === undefined ? {} : { memory: value.memory }
  for (const key of texts) {
    const given = value[key]
    // YAML reads an unquoted `off` as text, but `port: 80` as a number.
    if (typeof given === 'string' || typeof given === 'number') said[key] = String(given)
    else if (given === false && (key === 'auth' || key === 'clockJump')) said[key] = 'off'
    else if (given !== undefined && given !== null) problems.push(`${name}: ${key} must be a text`)
  }
  if (problems.length > 0) return E.left(problems)
  const { defaults, breakers } = value
  if (defaults === undefined && breakers === undefined) return E.right(said)
  if (isObject(defaults) && defaults.breakers !== undefined && breakers !== undefined) {
    return E.left([`${name}: breakers stand twice, under defaults and by themselves: keep one`])
  }
  return withDefaults(said, { ...(defaults as object | undefined), ...(breakers === undefined ? {} : { breakers }) }, name)
}

const withDefaults = (said: ConfigFile, patch: unknown, name: string): E.Either<Problems, ConfigFile> => {
  const checked = checkPatch(patch, name, 'defaults')
  return E.isLeft(checked) ? checked : E.right({ ...said, defaults: checked.right })
}
