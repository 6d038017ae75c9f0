/** A group of dead letters with the same type and signature. */
import type { FailurePattern } from '@daybook/client'

export interface GroupKey {
  readonly type: string
  readonly signature: string
}

/** The first twelve characters of a signature, which is enough to distinguish signatures. Imported dead letters have none. */
export const shortSignature = (signature: string): string => (signature === '' ? 'none' : signature.slice(0, 12))

/** Failures of each signature by hour, oldest first, from the rows of the report. */
export const failuresByHour = (rows: ReadonlyArray<Readonly<Record<string, string | number | null>>>, hours: number, now: number): ReadonlyMap<string, ReadonlyArray<number>> => {
  const hourMs = 3_600_000
  const first = Math.floor(now / hourMs) - hours + 1
  const found = new Map<string, Array<number>>()
  for (const { from, signature, failures } of rows) {
    const hour = Math.floor(Date.parse(String(from)) / hourMs) - first
    if (typeof signature !== 'string' || hour < 0 || hour >= hours) continue
    const counts = found.get(signature) ?? new Array<number>(hours).fill(0)
    counts[hour] = Number(failures)
    found.set(signature, counts)
  }
  return found
}

export const isOf = ({ type, signature }: GroupKey) => (pattern: FailurePattern): boolean => pattern.type === type && pattern.signature === signature
