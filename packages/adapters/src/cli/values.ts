/** Parses values as users type them. */
import { readFile } from 'node:fs/promises'
import { instantMax, type Json, PriorityName } from '@daybook/core/common'
import { InvalidArgumentError } from 'commander'
import { errorText } from '../error-text.js'
import { InexactNumber, parseJson } from '../read-json.js'
import { readTime } from '../time.js'
import { cannotRead, UsageError } from './exit-codes.js'
import type { Io } from './io.js'
import { didYouMean } from './suggest/nearest.js'
import { priorityWords } from './suggest/words.js'
import { clean } from './text.js'
import { textOf } from './utf8.js'

export const number = (text: string): number => {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('a number is wanted')
  return value
}

export const whole = (text: string): number => {
  const value = number(text)
  if (!Number.isSafeInteger(value) || value < 0) throw new InvalidArgumentError('a whole number is wanted')
  return value
}

export const positive = (text: string): number => {
  const value = whole(text)
  if (value < 1) throw new InvalidArgumentError('a number of at least 1 is wanted')
  return value
}

/** Where a number of random draws begins: see `randomOf` of the simulation. */
export const seedNumber = (text: string): number => {
  const seed = whole(text)
  if (seed >= 2 ** 32) throw new InvalidArgumentError('a whole number below 4294967296 is wanted')
  return seed
}

/** A filter that is empty would fit everything: a variable of a script was probably not set. */
export const filled = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('it is empty, and would fit everything')
  return text
}

/** A path that is empty names nothing. */
export const path = (text: string): string => {
  if (text === '') throw new InvalidArgumentError('it is empty: name a file or a folder')
  return text
}

/** Seconds, at least `min`. */
export const secondsFrom = (min: number) => (text: string): number => {
  const value = number(text)
  if (value < min) throw new InvalidArgumentError(`a number of seconds is wanted, at least ${min}`)
  return value
}

/** Accepts `a,b` as well as repeated options. */
export const list = (text: string, before: ReadonlyArray<string> = []): ReadonlyArray<string> => [
  ...before,
  ...text.split(',').map((part) => part.trim()).filter((part) => part !== ''),
]

/** The same for what restricts: an empty list would let in everything, or nothing, in silence. A variable of a script was probably not set. */
export const filledList = (text: string, before?: ReadonlyArray<string>): ReadonlyArray<string> => {
  const names = list(text, before)
  if (names.length === 0) throw new InvalidArgumentError('it is empty: leave the option out, or name at least one')
  return names
}

/** A number from 1 to 10, or a name. */
export const priority = (text: string): number | string => {
  if (/^\d+$/.test(text)) return Number(text)
  const name = text.toUpperCase()
  if (PriorityName.is(name)) return name
  const names = Object.keys(priorityWords)
  throw new InvalidArgumentError(`a number from 1 to 10 is wanted, or ${names.join(', ')}${didYouMean(text, names, priorityWords)}`)
}

/** A time in the past, as ISO 8601. */
export const pastTime = (text: string): string => {
  const ms = readTime(text)
  if (ms === undefined) throw new InvalidArgumentError('a time like 2026-01-31T12:00:00Z is wanted, and a day that exists')
  return new Date(ms).toISOString()
}

/** A time as ISO 8601, or a span from now: `+90s`, `+15m`, `+2h`, `+1d`. */
export const time = (text: string): string => {
  const [, amount, unit] = /^\+(\d+(?:\.\d+)?)([smhd])$/.exec(text) ?? []
  if (amount !== undefined && unit !== undefined) {
    const seconds = { s: 1, m: 60, h: 3_600, d: 86_400 }[unit as 's' | 'm' | 'h' | 'd']
    return instant(Date.now() + Number(amount) * seconds * 1_000)
  }
  return instant(readTime(text))
}

const instant = (ms: number | undefined): string => {
  if (ms === undefined || ms > instantMax) throw new InvalidArgumentError('a time like 2026-01-31T12:00:00Z, or +15m, is wanted, and a day that exists')
  return new Date(ms).toISOString()
}

/** Those whose standard input was read. */
const inputTaken = new WeakSet<Io>()

/** The text itself, `@file`, or `-` for standard input. */
const readText = async (given: string, io: Io): Promise<string> => {
  if (given === '-') {
    if (inputTaken.has(io)) throw new UsageError('standard input can be read only once: give one of the two that are - as @file')
    inputTaken.add(io)
    return io.input()
  }
  if (!given.startsWith('@')) return given
  const file = given.slice(1)
  return textOf(await readFile(file).catch(cannotRead(file)), file)
}

/** JSON, given in any of these ways. `what` names the option. */
export const readJson = async (given: string, what: string, io: Io): Promise<Json> => jsonOf(await readText(given, io), what)

/** The value of a JSON text. `what` names it. */
export const jsonOf = (text: string, what: string): Json => {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof InexactNumber) throw new UsageError(`${what}: ${error.message}`)
    throw new UsageError(`${what} is not JSON: ${errorText(error)}`)
  }
}

/** The value of a JSON text; any other text unchanged, unless it begins as an object: a shell has probably taken its quotes. */
export const readJsonOrText = async (given: string, io: Io): Promise<Json> => {
  const text = await readText(given, io)
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof InexactNumber) throw new UsageError(`${error.message}; or quote it: '"…"'`)
    if (text.trimStart().startsWith('{')) throw new UsageError(`${clean(text, 60)} begins as a JSON object and is none (${(error as Error).message}): put single quotes around it, '{"a":1}', or, if it is meant as text, send it as a JSON text: '"…"'`)
    return text
  }
}
