/** Settings as `a.b.c=value`, or from a file. */
import { readFile } from 'node:fs/promises'
import { type Json, SettingsPatch, settingsDefault, validate } from '@daybook/core/common'
import * as E from 'fp-ts/lib/Either.js'
import { readSettingsFile } from '../config/index.js'
import { cannotRead, UsageError } from './exit-codes.js'
import { nearest } from './suggest/nearest.js'

/** Every value with its path. An empty object counts as a value. */
export const flatten = (settings: object, path = ''): ReadonlyArray<readonly [string, Json]> =>
  Object.entries(settings).flatMap(([key, value]: [string, Json]) => {
    const at = path === '' ? key : `${path}.${key}`
    const isValue = typeof value !== 'object' || value === null || Array.isArray(value) || Object.keys(value).length === 0
    return isValue ? [[at, value] as const] : flatten(value, at)
  })

const breakerKeys = ['failureThreshold', 'cooldownSeconds', 'halfOpenAfter', 'countOn']
const overrides = 'breakers.overrides.'
const tenants = 'assignment.tenants.'

/** A task type or a tenant may contain dots. So after `breakers.overrides.` only a known last key is split off, and after `assignment.tenants.` nothing. */
const partsOf = (path: string): ReadonlyArray<string> => {
  if (path.startsWith(tenants)) return ['assignment', 'tenants', path.slice(tenants.length)]
  if (!path.startsWith(overrides)) return path.split('.')
  const rest = path.slice(overrides.length)
  const dot = rest.lastIndexOf('.')
  const last = rest.slice(dot + 1)
  return dot > 0 && breakerKeys.includes(last) ? ['breakers', 'overrides', rest.slice(0, dot), last] : ['breakers', 'overrides', rest]
}

const valueOf = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

const paths = flatten(settingsDefault).map(([path]) => path)
const parts = [...new Set(paths.map((path) => path.split('.')[0] as string))]

/** ` (did you mean defaults.timeout?)`, also if only the beginning or the end of the path was given. Empty if no setting is similar. */
export const didYouMeanSetting = (given: string): string => {
  const last = (path: string): string => path.slice(path.lastIndexOf('.') + 1)
  const sameEnd = paths.find((path) => last(path).toLowerCase() === last(given).toLowerCase())
  const samePart = given.includes('.') ? undefined : nearest(given, parts)
  const meant = samePart ?? sameEnd ?? nearest(given, paths) ?? paths.find((path) => last(path) === nearest(last(given), paths.map(last)))
  return meant === undefined ? '' : ` (did you mean ${meant}?)`
}

/** @throws UsageError that names each malformed assignment and each invalid value. */
export const patchOf = (assignments: ReadonlyArray<string>): SettingsPatch => {
  const patch: Record<string, unknown> = {}
  for (const assignment of assignments) {
    const equals = assignment.indexOf('=')
    if (equals < 1) throw new UsageError(`${assignment} is not key=value`)
    const parts = partsOf(assignment.slice(0, equals))
    let at = patch
    for (const part of parts.slice(0, -1)) {
      const next = Object.hasOwn(at, part) ? at[part] : undefined
      const made: Record<string, unknown> = typeof next === 'object' && next !== null ? (next as Record<string, unknown>) : {}
      Object.defineProperty(at, part, { value: made, enumerable: true, configurable: true, writable: true })
      at = made
    }
    Object.defineProperty(at, parts[parts.length - 1] ?? '', { value: valueOf(assignment.slice(equals + 1)), enumerable: true, configurable: true, writable: true })
  }
  const checked = validate(SettingsPatch)(patch)
  if (E.isLeft(checked)) throw new UsageError(checked.left.map(({ path, message }) => `${path} ${message}${message.includes('is not a field') ? didYouMeanSetting(path) : ''}`).join('\n'))
  return checked.right
}

/** @throws UsageError that names each invalid value in the file. */
export const readPatch = async (file: string): Promise<SettingsPatch> => {
  const read = readSettingsFile(await readFile(file, 'utf8').catch(cannotRead(file)), file)
  if (E.isLeft(read)) throw new UsageError(read.left.join('\n'))
  return read.right
}
