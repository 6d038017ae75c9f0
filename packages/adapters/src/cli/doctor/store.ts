/** The doctor for the log itself. */
import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { differenceBetween, foldVersion, forget, keptIn, type KeptRows, nextForgotten, plural, type QueueState, tasksInPage, timeOf } from '@daybook/core'
import { errorText } from '../../error-text.js'
import { archiveBeside, joinedStore } from '../../segments/index.js'
import { checkpointFolderOf, readCheckpoints, readSigningKey, signedByAnother, signedQueues, signerOf, signingKeyFileOf } from '../../chain/index.js'
import { decodeRecorded, queueOf, replay, streamOf, streamPrefix } from '../../engine/index.js'
import { openSnapshotFolder } from '../../files/index.js'
import { checkSqliteFile, openSqliteStore } from '../../sqlite/index.js'
import { type EventStore, type SnapshotStore, StoreError } from '../../store/index.js'
import { keysFileOf } from '../../task-keys/index.js'
import { assertLogFile } from '../log-file.js'
import { clean } from '../text.js'
import { type Finding, orBad, type Tell } from './finding.js'
import { FoldCheck } from './fold-check.js'
import { KeyCheck } from './key-check.js'

export interface StoreChecks {
  /** The data folder. Snapshots are checked only if it is given; with EventStoreDB, so are the keys of erasable tasks. */
  readonly data?: string
  /** Whether the newest snapshot of each queue is compared with all its events. */
  readonly replay?: boolean
}

export const checkFile = async (file: string, checks: StoreChecks, tell: Tell): Promise<ReadonlyArray<Finding>> => {
  await assertLogFile({ kind: 'sqlite', file })
  tell(`${file}: checking the file`)
  const report = await checkSqliteFile(file)
  const findings: Array<Finding> = report.problems.map((says) => ({ level: 'bad', about: file, says }))
  // No event was counted, so nothing could be read.
  if (findings.length > 0 && report.events === 0) return findings
  if (findings.length === 0) findings.push({ level: 'good', about: file, says: `sound: ${plural(report.streams, 'stream')}, ${plural(report.events, 'event')}` })

  let store: EventStore
  try {
    store = await openSqliteStore({ file })
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    // The server that has the file open can check the events.
    return [...findings, { level: 'unread', about: file, says: `the events were not read: ${error.message} With a server running: daybook doctor --url …` }]
  }
  return [...findings, ...(await checkEvents(joinedStore(store, archiveBeside(file)), keysFileOf({ kind: 'sqlite', file }), checks, tell))]
}

export const checkEventStoreDb = async ({ url, archive, keys }: { readonly url: string; readonly archive?: string; readonly keys?: string }, checks: StoreChecks, tell: Tell): Promise<ReadonlyArray<Finding>> => {
  const { openEventStoreDb } = await import('../../eventstoredb/index.js')
  const own = openEventStoreDb({ url })
  const store = archive === undefined ? own : joinedStore(own, archive)
  tell(`${store.name}: looking for queues`)
  const findings = await checkEvents(store, checks.data === undefined ? undefined : keys, checks, tell).catch((error: unknown): ReadonlyArray<Finding> => {
    if (!(error instanceof StoreError)) throw error
    return [{ level: 'unread', about: store.name, says: `the events were not read: ${error.message}` }]
  })
  return findings.length > 0 ? findings : [{ level: 'note', about: store.name, says: 'there is no queue in it' }]
}

/** Checks every event of every queue, and closes the store. */
const checkEvents = async (store: EventStore, keysFile: string | undefined, { data: dataDir, replay: isReplayed = false }: StoreChecks, tell: Tell): Promise<ReadonlyArray<Finding>> => {
  const findings: Array<Finding> = []
  const keys = keysFile === undefined ? undefined : new KeyCheck(keysFile)
  try {
    const streams = await store.streams(streamPrefix)
    const folder = dataDir === undefined ? undefined : join(dataDir, 'snapshots')
    const snapshots = folder === undefined ? undefined : await orBad(findings, folder, () => openSnapshotFolder(folder))
    if (dataDir !== undefined) findings.push(...(await checkAllSigned(dataDir, streams)))
    for (const stream of streams) {
      const queue = queueOf(stream)
      const check = new FoldCheck(queue)
      try {
        for await (const page of store.read(stream)) {
          for (const recorded of page) {
            check.event(recorded.revision, recorded.type, decodeRecorded(recorded))
            keys?.event(recorded.data)
          }
          tell(`${queue}: ${plural(check.events, 'event')}`)
        }
      } catch (error) {
        const reason = error instanceof Error ? adviceless(error.message) : String(error)
        findings.push({ level: 'bad', about: `queue ${queue}`, says: `can be read up to revision ${check.events - 1} only: ${reason}` })
        continue
      }
      findings.push(...check.findings({ now: Date.now() }), ...(keys?.findings(queue) ?? []))
      if (snapshots !== undefined) findings.push(...((await orBad(findings, `${folder}, queue ${queue}`, () => checkSnapshots(snapshots, stream, queue, check.events - 1))) ?? []))
      const { folded } = check
      if (isReplayed && snapshots !== undefined && folded !== undefined) findings.push(...((await orBad(findings, `queue ${queue}`, () => checkReplay(store, snapshots, queue, folded, tell))) ?? []))
    }
    return findings
  } finally {
    keys?.close()
    await store.close()
  }
}

/** Whether the log has each queue that was signed, and whether its checkpoints can be verified. `daybook audit verify` compares them with the log. */
const checkAllSigned = async (dataDir: string, streams: ReadonlyArray<string>): Promise<ReadonlyArray<Finding>> => {
  const folder = checkpointFolderOf(dataDir)
  const findings: Array<Finding> = []
  const key = keyOf(dataDir)
  for (const queue of (await orBad(findings, folder, () => signedQueues(folder))) ?? []) {
    const about = `queue ${queue}`
    if (streams.includes(streamOf(queue))) await orBad(findings, about, () => assertSigned(folder, queue, key))
    else findings.push({ level: 'bad', about, says: 'the log has none of its events, and checkpoints of it were signed: restore a backup' })
  }
  return findings
}

/** `undefined` if there is none that can be used, which the check of the data folder reports. */
const keyOf = (dataDir: string): KeyObject | undefined => {
  try {
    return readSigningKey(signingKeyFileOf(dataDir))
  } catch {
    return undefined
  }
}

/** @throws Error if the checkpoints of a queue cannot be verified, or if the key is not the one that signed them. */
const assertSigned = async (folder: string, queue: string, key: KeyObject | undefined): Promise<void> => {
  await readCheckpoints(folder, queue)
  const another = key === undefined ? undefined : await signedByAnother(folder, queue, signerOf(key, queue))
  if (another !== undefined) throw new Error(`${another}, unless --checkpoint-key names the one that signed`)
}

/** The reader is running the doctor already. */
const adviceless = (message: string): string => message.replace('run the doctor, or restore', 'restore')

/** Reads the rows: each has a checksum. */
const checkRows = (rows: KeptRows | undefined): void => {
  rows?.read()
  rows?.columns()
}

const checkSnapshots = async (snapshots: SnapshotStore, stream: string, queue: string, head: number): Promise<ReadonlyArray<Finding>> => {
  const { usable, skipped } = await snapshots.list(stream, foldVersion, head)
  // A snapshot is a cache: one that cannot be used only costs time at the next start.
  const findings: Array<Finding> = skipped.map(({ name, reason }) => ({ level: 'note', about: `snapshot ${name}`, says: `is not used: ${reason}` }))
  for (const { header, pages, rowsAt, isReplaced } of usable) {
    const about = `snapshot of ${queue} at revision ${header.revision}`
    try {
      let count = 0
      for await (const page of pages()) {
        count += tasksInPage(page)
        for (const { place } of keptIn(page)) checkRows(rowsAt?.(place))
      }
      const kind = header.base === undefined ? '' : ` that changed since revision ${header.base.revision}`
      findings.push({ level: 'good', about, says: `${plural(count, 'task')}${kind}, checksum right` })
    } catch (error) {
      // A server has merged it since it was listed.
      if ((await isReplaced?.()) === true) continue
      findings.push({ level: 'note', about, says: `is not used: ${errorText(error)}` })
    }
  }
  return findings
}

/** The last time of a date, in milliseconds since 1970. */
const endOfTime = 8.64e15

/**
 * Compares the state that a start makes, from the newest snapshot and the events after it, with the state from all events. Consumes `replayed`. A
 * checksum does not tell who wrote a snapshot, and `audit verify` reads none.
 */
const checkReplay = async (store: EventStore, { rowStoreOf: _, ...snapshots }: SnapshotStore, queue: string, replayed: QueueState, tell: Tell): Promise<ReadonlyArray<Finding>> => {
  let unused = ''
  const { state, snapshot } = await replay(store, snapshots, queue, {
    skipped: (name, reason) => (unused ||= `, and a start does not use ${name}: ${reason}`),
    progress: (done, of) => tell(`${queue}: comparing the newest snapshot, ${done} of ${plural(of, 'event')} after it`),
  })
  const about = `queue ${queue}`
  if (snapshot === undefined) return [{ level: 'note', about, says: `there is no snapshot to compare with the log${unused}` }]
  // When a finished task that is no longer known leaves memory makes no difference.
  const now = Math.max(Date.now(), timeOf(state), timeOf(replayed))
  const [loaded, folded] = [forget(state, now, Infinity), forget(replayed, now, Infinity)]
  const difference = differenceBetween(loaded, folded)
  const from = `the snapshot at revision ${snapshot.revision}`
  if (difference === undefined) return [{ level: 'good', about, says: `${from} leads to the same state as all events` }]
  // Those that finished before the oldest one that the snapshot still has.
  if (differenceBetween(loaded, forget(folded, (nextForgotten(loaded) ?? endOfTime) - 1, Infinity)) === undefined) {
    return [{ level: 'note', about, says: `${from} leads to the same state as all events, but for finished tasks that it has forgotten too early: the clock of a server was ahead once, or somebody removed them` }]
  }
  const { left, right } = difference
  const shown = (text: string | undefined): string => (text === undefined ? 'nothing' : clean(text, 200))
  return [{
    level: 'bad', about,
    says: `${from} does not lead to the state that all events lead to. The first difference is ${clean(difference.about)}: ${shown(left)} from the snapshot, ${shown(right)} from the events. Stop the server and move the folder snapshots away: a start then computes the state from the events`,
  }]
}
