/**
 * Stream metadata: the top level of the last event of `$$stream`. A document that the server cannot
 * parse as expected counts as absent.
 */
import { topLevel } from './json-top-level.js'

export interface StreamMetadata {
  readonly maxCount?: number
  readonly maxAgeMs?: number
  readonly truncateBefore?: number
  /** `$tb` is exactly 2^63-1. */
  readonly softDeleted: boolean
}

export const noMetadata: StreamMetadata = { softDeleted: false }
/** Metastreams always keep one event. */
export const metadataOfMetastreams: StreamMetadata = { softDeleted: false, maxCount: 1 }

const revisionMax = 9_223_372_036_854_775_807n
const secondsMax = 922_337_203_685n

/** The metadata that a soft delete writes. */
export const softDeletion = `{"$tb":${String(revisionMax)}}`

export const isMetastream = (stream: string): boolean => stream.startsWith('$$')
export const metastreamOf = (stream: string): string => `$$${stream}`
export const originalOf = (metastream: string): string => metastream.slice(2)

class Unreadable extends Error {}

const integer = (text: string | undefined): bigint | undefined => {
  if (text === undefined) return undefined
  if (!/^-?\d+$/.test(text)) throw new Unreadable()
  const value = BigInt(text)
  if (value > revisionMax || value < -revisionMax - 1n) throw new Unreadable()
  return value
}

const seconds = (text: string | undefined): bigint | undefined => {
  const value = integer(text)
  if (value !== undefined && (value > secondsMax || value < -secondsMax)) throw new Unreadable()
  return value
}

const rolesOnly = (text: string | undefined): void => {
  if (text === undefined) return
  const acl: unknown = JSON.parse(text)
  if (typeof acl !== 'object' || acl === null || Array.isArray(acl)) throw new Unreadable()
  for (const [name, roles] of Object.entries(acl)) {
    const isRoles = typeof roles === 'string' || (Array.isArray(roles) && roles.every((role) => typeof role === 'string'))
    if (!['$r', '$w', '$d', '$mr', '$mw'].includes(name) || !isRoles) throw new Unreadable()
  }
}

const read = (text: string): StreamMetadata => {
  const fields = topLevel(text)
  const maxCount = integer(fields.get('$maxCount'))
  const maxAge = seconds(fields.get('$maxAge'))
  const truncateBefore = integer(fields.get('$tb'))
  seconds(fields.get('$cacheControl'))
  if (!/^(true|false)$/.test(fields.get('$tmp') ?? 'true')) throw new Unreadable()
  rolesOnly(fields.get('$acl'))
  return {
    softDeleted: truncateBefore === revisionMax,
    ...(maxCount !== undefined && maxCount > 0n ? { maxCount: Number(maxCount) } : {}),
    ...(maxAge !== undefined && maxAge > 0n ? { maxAgeMs: Number(maxAge) * 1000 } : {}),
    ...(truncateBefore !== undefined && truncateBefore >= 0n ? { truncateBefore: Number(truncateBefore) } : {}),
  }
}

export const metadataOf = (data: Uint8Array, isJson: boolean): StreamMetadata => {
  if (data.length === 0 || !isJson) return noMetadata
  try {
    return read(Buffer.from(data).toString('utf8'))
  } catch {
    return noMetadata
  }
}

/** The metadata with `$tb` set, as the server writes it when a soft-deleted stream is written to again. */
export const recreatedFrom = (data: Uint8Array, revision: number): Buffer | undefined => {
  try {
    const document: unknown = JSON.parse(Buffer.from(data).toString('utf8'))
    if (typeof document !== 'object' || document === null || Array.isArray(document)) return undefined
    return Buffer.from(JSON.stringify({ ...document, $tb: revision }))
  } catch {
    return undefined
  }
}

/** The first revision that readers of the stream can see. */
export const firstReadable = (metadata: StreamMetadata, head: number): number =>
  Math.max(
    0,
    metadata.maxCount === undefined ? 0 : head - metadata.maxCount + 1,
    metadata.truncateBefore ?? 0,
  )
