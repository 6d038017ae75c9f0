/** Two busy processes on one queue, one of them killed now and then: the other continues, and the log is correct. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEventStoreDb } from '@daybook/adapters/eventstoredb'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import type { EventStore } from '@daybook/adapters/store'
import { expect, test } from 'vitest'
import { answersMatchLog, holds, leasesAreUnique, nothingIsLost, readLog, type Exchange } from '../support/audit.js'
import { eventStoreDbUrl } from '../support/eventstoredb/node.js'
import { sleep } from '../support/queue.js'
import { Child, enqueuesAreWhole, type Held, heldAfter, useChildren } from './child.js'

useChildren()

const killsDefault = 4

/** Number of commands that a process reports as successful. */
const successes = ({ lines }: Child): number => lines.filter(({ exchange }) => exchange?.outcome._tag === 'Right').length

class SharedQueue {
  readonly exchanges: Array<Exchange> = []
  /** Leases of a killed process's agents that the other process accepted. */
  carried = 0
  readonly warnings: Array<string> = []
  private runs = 0
  private held: ReadonlyArray<Held> = []

  constructor(
    readonly choice: string,
    readonly folder: string,
    readonly queue: string,
    private readonly defect: ReadonlyArray<string>,
  ) {}

  async start(): Promise<Child> {
    const child = new Child([this.choice, this.folder, `${this.queue}-${++this.runs}`, String(this.runs), ...this.defect])
    await child.said('loaded')
    child.go({ queue: this.queue, retry: [], carry: this.held })
    this.held = []
    return child
  }

  async kill(child: Child): Promise<void> {
    await child.kill()
    const exchanges = child.lines.flatMap((line) => line.exchange ?? [])
    this.exchanges.push(...exchanges)
    this.held = heldAfter(exchanges, child.lines)
    for (const { failed, warning } of child.lines) {
      if (failed !== undefined) throw new Error(`a process failed: ${failed}`)
      if (warning !== undefined) this.warnings.push(warning)
    }
    this.carried += exchanges.filter(({ id, command }) => command.type === 'Complete' && !command.agent.includes(id.split('-').slice(0, -1).join('-'))).length
  }
}

const openFile = (folder: string): Promise<EventStore> => openSqliteStore({ file: join(folder, 'daybook.db'), sharing: 'shared' })

/** Waits for the condition. Meanwhile, everything acknowledged must be in the log, and live processes must make progress. */
const waitFor = async (isSo: () => boolean, pair: ReadonlyArray<Child>, head: () => Promise<number>): Promise<void> => {
  for (const end = Date.now() + patienceMs; !isSo(); await sleep(20)) {
    const revisions = pair.flatMap(({ lines }) => lines.map(({ exchange }) => (exchange?.outcome._tag === 'Right' ? exchange.outcome.right.revision : -1)))
    const last = revisions.reduce((a, b) => Math.max(a, b), -1)
    const logEnd = await head()
    holds(last <= logEnd, () => `INV-19: revision ${last} was acknowledged, and the log ends at ${logEnd}`)
    if (Date.now() > end) throw new Error(`not within ${patienceMs} ms: ${isSo.toString()}`)
  }
}
/** A generous limit that is reached only on failure. */
const patienceMs = 300_000

const twoProcesses = async (
  choice: string,
  open: (folder: string) => Promise<EventStore>,
  { kills = killsDefault, defect = [] }: { readonly kills?: number; readonly defect?: ReadonlyArray<string> } = {},
): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-two-'))
  const shared = new SharedQueue(choice, folder, `two-${process.pid}-${Date.now()}`, defect)
  let pair = [await shared.start(), await shared.start()]
  const store = await open(folder)
  const head = (): Promise<number> => store.head(`taskqueue-${shared.queue}`)
  try {
    for (let i = 0; i < kills; i++) {
      await waitFor(() => pair.every((child) => successes(child) >= 20), pair, head)
      await sleep(i * 10)
      const [victim, survivor] = i % 2 === 0 ? pair : [...pair].reverse()
      await shared.kill(victim!)
      const before = successes(survivor!)
      await waitFor(() => successes(survivor!) >= before + 20, pair, head)
      pair = [survivor!, await shared.start()]
    }
    await waitFor(() => pair.every(({ lines }) => lines.some(({ carried }) => carried === true)), pair, head)
    for (const child of pair) await shared.kill(child)
    const recorded = []
    for await (const page of store.read(`taskqueue-${shared.queue}`)) recorded.push(...page)
    const log = readLog(recorded)
    answersMatchLog(shared.exchanges, log)
    leasesAreUnique(log)
    nothingIsLost(log)
    enqueuesAreWhole(log)
    expect(shared.exchanges.length).toBeGreaterThan(kills * 40)
    expect(shared.carried).toBeGreaterThan(0)
    const runs = new Set(log.map(({ command }) => command.split('-').slice(0, -1).join('-')))
    expect(runs.size).toBeGreaterThan(kills)
  } finally {
    for (const child of pair) await child.kill()
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

test('INV-1, INV-2, INV-9, INV-16, INV-19: two processes on one SQLite file, one of them killed again and again', async () => {
  await twoProcesses('sqlite-shared', openFile)
}, 1_800_000)

test('INV-1, INV-2, INV-9, INV-16, INV-19: two processes on one EventStoreDB, one of them killed again and again', async () => {
  const node = await eventStoreDbUrl()
  try {
    await twoProcesses(node.url, async () => openEventStoreDb({ url: node.url }))
  } finally {
    await node.close()
  }
}, 1_800_000)

test('teeth: two processes that acknowledge before the log has taken it are caught', async () => {
  await expect(twoProcesses('sqlite-shared', openFile, { kills: 2, defect: ['early'] })).rejects.toThrow(/^INV-/)
}, 1_800_000)
