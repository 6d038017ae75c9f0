import type { AppendBatch } from './append-transaction.js'

/**
 * An append on its way between threads. Posting copies every text; the events of one command share their type
 * and often their metadata, which go once for a run of equals.
 */
export interface PostedBatch extends Omit<AppendBatch, 'types' | 'metadatas'> {
  readonly types: Runs
  readonly metadatas: Runs
}

/** `texts[i]` stands `counts[i]` times. */
interface Runs {
  readonly texts: ReadonlyArray<string>
  readonly counts: ReadonlyArray<number>
}

export const postedBatch = (batch: AppendBatch): PostedBatch => ({
  ...batch,
  types: runsOf(batch.types),
  metadatas: runsOf(batch.metadatas),
})

export const receivedBatch = (posted: PostedBatch): AppendBatch => ({
  ...posted,
  types: valuesOf(posted.types),
  metadatas: valuesOf(posted.metadatas),
})

const runsOf = (values: ReadonlyArray<string>): Runs => {
  const texts: Array<string> = []
  const counts: Array<number> = []
  let last: string | undefined
  for (const value of values) {
    if (value === last) counts[counts.length - 1] = (counts[counts.length - 1] as number) + 1
    else {
      texts.push(value)
      counts.push(1)
      last = value
    }
  }
  return { texts, counts }
}

const valuesOf = ({ texts, counts }: Runs): ReadonlyArray<string> => {
  const values: Array<string> = []
  texts.forEach((text, index) => {
    for (let left = counts[index] as number; left > 0; left--) values.push(text)
  })
  return values
}
