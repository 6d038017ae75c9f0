/**
 * Seals appends on the writing thread (EV-07), which has spare time, unlike the deciding thread ([ADR
 * 46](../../../../docs/adr/0046-seals-on-the-writing-thread.md)).
 */
import { leafOf } from '../seals/leaf.js'
import { sealOf, withSeal } from '../seals/seal.js'
import type { LastSeals } from '../seals/sealing.js'
import type { AppendBatch } from './append-transaction.js'

export interface SealedBatch {
  readonly batch: AppendBatch
  /** The hash of its seal. */
  readonly seal?: string
}

/** The batch to be written from this revision on, if that follows what its seal continues. */
export const sealedBatch = (batch: AppendBatch, revision: number, seals: LastSeals): SealedBatch | undefined => {
  const { stream, ids, types, datas, metadatas, sealing } = batch
  if (sealing === undefined) return { batch }
  const to = revision + ids.length - 1
  if ('made' in sealing) {
    seals.add(stream, { revision: to, hash: sealing.made })
    return { batch, seal: sealing.made }
  }
  const end = seals.endBefore(stream, revision, sealing.continues)
  if (end === undefined) return undefined
  const seal = sealOf(ids.map((id, i) => leafOf(stream, revision + i, id, types[i]!, metadatas[i]!, datas[i]!)), to, end)
  seals.add(stream, { revision: to, hash: seal.hash })
  return { batch: { ...batch, metadatas: [...metadatas.slice(0, -1), withSeal(metadatas[metadatas.length - 1]!, seal)] }, seal: seal.hash }
}
