/** Settings in YAML: all or some of them, or a `circuit-breakers.yaml`. */
import { SettingsPatch, validate } from '@daybook/core'
import * as E from 'fp-ts/lib/Either.js'
import { parseDocument } from 'yaml'
import { isObject } from '../is-object.js'

/** Everything that is wrong, each problem with its position. */
export type Problems = ReadonlyArray<string>

export const parseYaml = (text: string, name: string): E.Either<Problems, unknown> => {
  const document = parseDocument(text, { prettyErrors: true })
  if (document.errors.length > 0) return E.left(document.errors.map((error) => `${name}: ${error.message}`))
  // A few lines of nested aliases can expand to gigabytes, so their number is limited.
  return E.tryCatch(() => document.toJS({ maxAliasCount: 100 }) as unknown, (error): Problems => [`${name}: ${String(error)}`])
}

const breakerKeys = new Set(['failureThreshold', 'cooldownSeconds', 'halfOpenAfter', 'countOn'])

/**
 * A file in the shape of `.loki/config/circuit-breakers.yaml` (LK-14): `defaults` with a breaker's own keys,
 * and `overrides` by task type. A settings patch has none of these keys, so the two can be told apart.
 */
export const isBreakersFile = (value: unknown): boolean => {
  if (!isObject(value)) return false
  const keys = Object.keys(value)
  if (keys.length === 0 || !keys.every((key) => key === 'defaults' || key === 'overrides')) return false
  const { defaults } = value
  return defaults === undefined || (isObject(defaults) && Object.keys(defaults).length > 0 && Object.keys(defaults).every((key) => breakerKeys.has(key)))
}

export const checkPatch = (value: unknown, name: string, root = ''): E.Either<Problems, SettingsPatch> => {
  const checked = validate(SettingsPatch, root)(value)
  return E.isRight(checked) ? checked : E.left(checked.left.map(({ path, message }) => `${name}: ${path} ${message}`))
}

/** Reads a settings patch. A breakers file is converted to one. */
export const readSettingsFile = (text: string, name: string): E.Either<Problems, SettingsPatch> => {
  const parsed = parseYaml(text, name)
  if (E.isLeft(parsed)) return parsed
  if (!isObject(parsed.right)) return E.left([`${name}: holds no settings`])
  return checkPatch(isBreakersFile(parsed.right) ? { breakers: parsed.right } : parsed.right, name)
}
