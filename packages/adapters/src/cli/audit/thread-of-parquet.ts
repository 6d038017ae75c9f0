/** The calling side of the thread that encodes a Parquet file. The file is written here. */
import type { Worker } from 'node:worker_threads'
import { newThread } from '../../threads/new-thread.js'
import type { EventWriter, Manifest, WithoutHash } from './manifest.js'
import type { EventLines } from './source.js'

export type ToParquet = { readonly kind: 'lines'; readonly lines: Omit<EventLines, 'bytes'> & { readonly bytes: Uint8Array } } | { readonly kind: 'end'; readonly rest: WithoutHash }

export type FromParquet =
  | { readonly kind: 'part'; readonly bytes: Uint8Array<ArrayBuffer> }
  /** The lines that were sent are now rows of a group. */
  | { readonly kind: 'taken' }
  | { readonly kind: 'ended'; readonly manifest: Manifest }

/** The largest number of pages of lines that wait for the thread. */
const waitingMax = 2

export class ParquetThread implements EventWriter {
  private readonly worker: Worker
  private readonly ended: Promise<Manifest>
  private waiting = 0
  private taken = (): void => undefined
  private writing: Promise<void> = Promise.resolve()

  constructor(write: (bytes: Uint8Array) => Promise<void>) {
    this.worker = newThread(new URL('./parquet-thread.js', import.meta.url), {})
    this.ended = new Promise((resolve, reject) => {
      this.worker.on('message', (message: FromParquet) => {
        if (message.kind === 'part') this.writing = this.writing.then(() => write(message.bytes))
        else if (message.kind === 'ended') resolve(message.manifest)
        else this.waiting--
        this.writing.catch(reject)
        this.taken()
      })
      this.worker.once('error', reject)
      this.worker.once('exit', () => reject(new Error('The thread that encodes the Parquet file has ended.')))
    })
    // The error is thrown to whoever passes lines or ends the file.
    this.ended.catch(() => undefined)
  }

  async lines(lines: EventLines): Promise<void> {
    const { bytes } = lines
    this.waiting++
    // A buffer that shares its memory is copied.
    this.worker.postMessage({ kind: 'lines', lines } satisfies ToParquet, bytes.buffer.byteLength === bytes.byteLength ? [bytes.buffer as ArrayBuffer] : [])
    while (this.waiting > waitingMax) await Promise.race([new Promise<void>((taken) => (this.taken = taken)), this.ended])
    await this.writing
  }

  async end(rest: WithoutHash): Promise<Manifest> {
    this.worker.postMessage({ kind: 'end', rest } satisfies ToParquet)
    const manifest = await this.ended
    await this.writing
    return manifest
  }

  async close(): Promise<void> {
    await this.worker.terminate()
  }
}
