/** EV-07: the hashes of recorded logs never change: a verifier of today verifies them for ever. `GOLDEN=write` writes a missing file, and no file is ever changed. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { ChainVerifier, Tree } from '@daybook/adapters/chain'
import { Chain, leafOf, readSeal } from '@daybook/adapters/seals'
import type { EventToAppend, RecordedEvent } from '@daybook/adapters/store'
import { expect, test } from 'vitest'
import { sealNext } from './logs.js'

const file = new URL('../golden/chains/first.json', import.meta.url)
const stream = 'taskqueue-golden'
const event = (i: number): EventToAppend => ({
  id: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
  type: i % 2 === 0 ? 'TaskEnqueued' : 'Claimed',
  data: `{"task":"t${i}","content":{"payload":"é€😀 ${i}"}}`,
  metadata: `{"schemaVersion":1,"at":"2026-01-01T00:00:0${i}.000Z","actor":"ann","$correlationId":"c","$causationId":"c"${i % 2 === 0 ? '' : `,"prev":${i - 1}`}}`,
})

interface Golden {
  readonly log: ReadonlyArray<EventToAppend>
  readonly head: string | null
  /** Of the tree over all events, in hex. */
  readonly root: string
}

/** An append of three, two events of an older server, an append of two and one of one. */
const make = (): Golden => {
  const chain = new Chain(stream, undefined)
  const log: Array<EventToAppend> = []
  for (const [count, isSealed] of [[3, true], [2, false], [2, true], [1, true]] as const) {
    const texts = Array.from({ length: count }, (_, i) => event(log.length + i))
    if (isSealed) sealNext(chain, texts, log.length - 1, stream)
    else chain.take(texts.map((text, i) => recorded(text, log.length + i)))
    log.push(...texts)
  }
  return { log, head: chain.head?.hash ?? null, root: rootOf(log) }
}
const recorded = (text: EventToAppend, revision: number): RecordedEvent => ({ ...text, stream, revision, position: revision, created: '' })
const rootOf = (log: ReadonlyArray<EventToAppend>): string => {
  const tree = new Tree()
  log.forEach(({ id, type, metadata, data }, revision) => tree.add(leafOf(stream, revision, id, type, readSeal(metadata)?.bare ?? metadata, data)))
  return tree.root().toString('hex')
}

test('EV-07: the recorded log is whole, with the recorded hashes', () => {
  if (!existsSync(file) && process.env.GOLDEN === 'write') writeFileSync(file, `${JSON.stringify(make(), null, 1)}\n`)
  const text = readFileSync(file, 'utf8')
  expect(createHash('sha256').update(text).digest('hex')).toBe(sum)
  const { log, head, root } = JSON.parse(text) as Golden
  const verifier = new ChainVerifier(stream)
  verifier.take(log.map(recorded))
  expect(verifier.end()).toMatchObject({ ok: true, events: 8, begins: 0, unsealed: null, head: { hash: head } })
  expect(rootOf(log)).toBe(root)
  expect(make()).toEqual({ log, head, root })
})

/** Of the file, which is never changed. */
const sum = 'ba0f9159566a29b96a03e1991ac0815955b8087b9469dddf6659c86338bc5750'
