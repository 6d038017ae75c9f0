/** A server with an erasable queue that is killed again and again while tasks are enqueued and erased, with the checks in between. */
import { once } from 'node:events'
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient, DaybookError, type DaybookClient } from '@daybook/adapters/client'
import { openSqliteStore } from '@daybook/adapters/sqlite'
import { KeyFile } from '@daybook/adapters/task-keys'
import { runHere, start } from '../cli/program.js'
import { holds } from '../support/audit.js'
import { logOf, sleep, until } from '../support/queue.js'
import { below, oneOf, randomOf } from '../support/random.js'
import { bytesIn, logFile, token } from './support.js'

const callers = 6
const keysFile = (dir: string): string => `${logFile(dir)}.keys`
/** In everything that the task of this id contains, and nowhere else. */
const secretOf = (id: string): string => `secret ${id}.`
const secretsIn = (text: string): ReadonlySet<string> => new Set([...text.matchAll(/secret (r\d+-\d+)\./g)].map(([, id]) => id as string))

interface Running {
  readonly client: DaybookClient
  readonly kill: () => Promise<void>
}

export class KilledServer {
  readonly dir = mkdtempSync(join(tmpdir(), 'daybook-erasures-killed-'))
  /** Erasures that a kill interrupted before their event was in the log, and after that. */
  before = 0
  after = 0
  /** Tasks with an acknowledged enqueue. */
  readonly enqueued = new Set<string>()
  /** Tasks with an acknowledged end that nobody asked to erase. */
  private readonly finished = new Set<string>()
  /** Tasks whose erasure was asked for: not acknowledged, and acknowledged. */
  private readonly begun = new Set<string>()
  readonly erased = new Set<string>()
  /** What the last run enqueued or erased. */
  private readonly touched = new Set<string>()
  /** The keys of tasks, as the file had them after a kill. */
  private readonly keys = new Map<string, Buffer>()
  private readonly random
  private runs = 0
  private answers = 0

  constructor(seed: number) {
    this.random = randomOf(seed)
  }

  /** Checks what a server shows after the last kill, lets callers enqueue and erase, and kills it at a random moment. */
  async runAndKill(): Promise<void> {
    const server = await this.start()
    try {
      if (this.runs > 0) await this.check(server.client)
      this.runs++
      this.touched.clear()
      const load = Promise.all(Array.from({ length: callers }, () => this.caller(server.client)))
      const answers = this.answers + 20 + below(this.random, 60)
      await Promise.race([load, until(() => this.answers >= answers)])
      if (this.random() < 0.7) await Promise.race([load, until(() => this.begun.size > 0)])
      await sleep(this.random() * 15)
      await server.kill()
      await load
    } finally {
      await server.kill()
    }
    await this.lookAtFiles()
  }

  /** Everything that was ever erased is gone, and everything else is there. */
  async checkAll(): Promise<void> {
    for (const id of this.enqueued) this.touched.add(id)
    const { client, kill } = await this.start()
    try {
      await this.check(client)
    } finally {
      await kill()
    }
  }

  remove(): void {
    rmSync(this.dir, { recursive: true, force: true })
  }

  private async start(): Promise<Running> {
    const child = start(['serve', '--port', '0', '--data', this.dir, '--queue-files', join(this.dir, 'queues')], { DAYBOOK_TOKEN: token })
    const exited = once(child, 'exit')
    let said = ''
    child.stderr.on('data', (text: Buffer) => (said += text.toString()))
    const url = await new Promise<string>((resolve, reject) => {
      child.stdout.on('data', (text: Buffer) => {
        const found = /http:\/\/\S+/.exec(text.toString())?.[0]
        if (found !== undefined) resolve(found)
      })
      void exited.then(() => reject(new Error(`the server did not start: ${said}`)))
    })
    const client = createClient({ url, token, queue: 'q', retryForMs: 0 })
    if (this.runs === 0) await client.settings.patch({ erasable: true, capacity: { maxConcurrentAgents: 100_000 } })
    return {
      client,
      kill: async () => {
        child.kill('SIGKILL')
        await exited
        await client.close()
      },
    }
  }

  /** Works until the server is gone. */
  private async caller(client: DaybookClient): Promise<void> {
    try {
      for (let i = 0; ; i++) await this.work(client)
    } catch (error) {
      if (!(error instanceof DaybookError) || error.code !== 'unreachable') throw error
    }
  }

  private async work(client: DaybookClient): Promise<void> {
    const id = `r${this.runs}-${++this.next}`
    this.touched.add(id)
    await client.enqueue({ id, type: 'letter', payload: { text: secretOf(id) }, description: secretOf(id) })
    this.enqueued.add(id)
    this.answers++
    if (this.random() < 0.5) await this.complete(client)
    else await this.cancel(client, id)
    if (this.random() < 0.8) await this.erase(client)
  }
  private next = 0

  private async cancel(client: DaybookClient, id: string): Promise<void> {
    try {
      await client.cancel(id, 'not needed')
      this.finished.add(id)
    } catch (error) {
      // Another caller has claimed it.
      if (!(error instanceof DaybookError) || error.code !== 'wrong-state') throw error
    }
  }

  private async complete(client: DaybookClient): Promise<void> {
    const agentId = `agent ${this.runs}-${++this.next}`
    const [claim] = await client.claim({ agentId })
    if (claim === undefined) return
    const { id, payload } = claim.task
    holds(JSON.stringify(payload).includes(secretOf(id)), () => `${id} was given to an agent without its content`)
    try {
      await client.complete(id, { agentId, token: claim.lease.token, result: { decisionReport: 'done', output: secretOf(id) } })
      this.finished.add(id)
    } catch (error) {
      // Another caller has cancelled it.
      if (!(error instanceof DaybookError) || error.code !== 'lease-lost') throw error
    }
  }

  private async erase(client: DaybookClient): Promise<void> {
    if (this.finished.size === 0) return
    const id = oneOf(this.random, [...this.finished])
    this.finished.delete(id)
    this.touched.add(id)
    this.begun.add(id)
    await client.erase(id, 'asked for')
    this.begun.delete(id)
    this.erased.add(id)
    this.answers++
  }

  /** Copies of log and keys as the kill left them: how far the erasures got, and the keys that have to be gone later. */
  private async lookAtFiles(): Promise<void> {
    const copy = mkdtempSync(join(tmpdir(), 'daybook-erasures-copy-'))
    for (const file of [logFile, keysFile].flatMap((of) => [of, (dir: string) => `${of(dir)}-wal`])) {
      if (existsSync(file(this.dir))) copyFileSync(file(this.dir), file(copy))
    }
    const [store, keys] = [await openSqliteStore({ file: logFile(copy) }), new KeyFile(keysFile(copy))]
    try {
      const erasures = new Set((await logOf(store)).flatMap(({ type, data }) => (type === 'TaskErased' ? [(JSON.parse(data) as { readonly task: string }).task] : [])))
      for (const { task } of keys.intended('q')) {
        if (erasures.has(task)) this.after++
        else this.before++
      }
      for (const id of this.erased) holds(keys.newestOf('q', id) === 'erased', () => `INV-19: the erasure of ${id} was acknowledged before its key was thrown away`)
      for (const id of this.enqueued) {
        const key = keys.newestOf('q', id)
        if (key !== undefined && key !== 'erased') this.keys.set(id, key.key)
      }
    } finally {
      keys.close()
      await store.close()
      rmSync(copy, { recursive: true })
    }
  }

  private async check(client: DaybookClient): Promise<void> {
    const events = await allEvents(client)
    const erasures = events.flatMap(({ type, data }) => (type === 'TaskErased' ? [data.task as string] : []))
    const gone = new Set(erasures)
    holds(gone.size === erasures.length, () => `erased twice: ${erasures.join()}`)
    for (const id of this.erased) holds(gone.has(id), () => `INV-19: the erasure of ${id} was acknowledged and is not in the log`)
    for (const id of gone) holds(this.erased.has(id) || this.begun.has(id), () => `${id} was erased, and nobody asked for it`)
    this.checkKeys(gone)
    const { out, code, err } = await runHere(['audit', 'export', '--data', this.dir], { DAYBOOK_QUEUE: 'q' })
    holds(code === 0, () => `no export: ${err}`)
    for (const [where, text] of [['events', JSON.stringify(events)], ['export', out]] as const) {
      this.checkShown(gone, text, where)
      holds(!/"withheld":"(key-missing|damaged)"/.test(text), () => `${where}: a key is missing, or a text is damaged`)
    }
    for (const id of this.touched) await this.checkTask(client, id, gone.has(id))
    holds((await client.verify()).ok, 'the log is not whole')
    const verified = await runHere(['audit', 'verify', '--data', this.dir, '--json'], { DAYBOOK_QUEUE: 'q' })
    holds(verified.code === 0, () => `audit verify: ${verified.out}${verified.err}`)
    for (const id of this.begun) (gone.has(id) ? this.erased : this.finished).add(id)
    this.begun.clear()
  }

  /** In the file with the keys, and of the bytes of keys in all files. */
  private checkKeys(gone: ReadonlySet<string>): void {
    const file = new KeyFile(keysFile(this.dir))
    try {
      holds(file.intended('q').length === 0, () => `erasures that the start has not ended: ${JSON.stringify(file.intended('q'))}`)
      for (const id of gone) holds(file.newestOf('q', id) === 'erased', () => `${id} is erased, and its key is there`)
      for (const id of this.enqueued) if (!gone.has(id)) holds(file.allOf('q', id).some(({ isErased }) => !isErased), () => `INV-19: ${id} is not erased, and its key is gone`)
    } finally {
      file.close()
    }
    const files = [...bytesIn(this.dir)]
    for (const [name, bytes] of files) {
      holds(!bytes.includes('secret r'), () => `${name} has content in the clear`)
      for (const id of this.touched) {
        const key = gone.has(id) ? this.keys.get(id) : undefined
        holds(key === undefined || !bytes.includes(key), () => `the key of ${id}, which is erased, is in ${name}`)
      }
    }
  }

  private checkShown(gone: ReadonlySet<string>, text: string, where: string): void {
    const shown = secretsIn(text)
    for (const id of shown) holds(!gone.has(id), () => `${where}: ${id} is erased, and its content is shown`)
    for (const id of this.enqueued) holds(gone.has(id) || shown.has(id), () => `INV-19: ${where}: ${id} was enqueued and is not erased, and its content is not shown`)
  }

  private async checkTask(client: DaybookClient, id: string, isGone: boolean): Promise<void> {
    if (!this.enqueued.has(id)) return
    const [task, history] = await Promise.all([client.task(id), client.history(id)])
    // That of an unfinished task would be waited for.
    const result = task.status === 'completed' ? await client.result(id) : undefined
    const shown = JSON.stringify([task, history, result])
    holds(shown.includes(secretOf(id)) === !isGone, () => `${id} is ${isGone ? '' : 'not '}erased: ${shown}`)
    holds((task.withheld === 'erased') === isGone, () => `${id}: ${JSON.stringify(task)}`)
    // Whether its content is shown with the task, and not only in its history.
    holds(isGone || JSON.stringify(task.payload).includes(secretOf(id)), () => `INV-19: ${id} has lost its payload`)
    holds(isGone || task.status !== 'completed' || JSON.stringify(result).includes(secretOf(id)), () => `INV-19: ${id} has lost its result`)
  }
}

type Event = Awaited<ReturnType<DaybookClient['events']>>['events'][number]

const allEvents = async (client: DaybookClient): Promise<ReadonlyArray<Event>> => {
  const all: Array<Event> = []
  for (let from: number | null = 0; from !== null; ) {
    const page: Awaited<ReturnType<DaybookClient['events']>> = await client.events({ from, limit: 1_000 })
    all.push(...page.events)
    from = page.next
  }
  return all
}
