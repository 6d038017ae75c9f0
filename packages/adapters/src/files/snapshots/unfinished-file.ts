/** A snapshot file that is being written. Most calls block, so it belongs on the thread of `snapshot-thread.ts`. */
import { createHash } from 'node:crypto'
import { appendFileSync, closeSync, fdatasyncSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { syncPath } from '../../disk/sync-path.js'
import { footerLine, type SnapshotFooter } from './snapshot-format.js'

export class UnfinishedFile {
  /** `undefined` once it is closed, because the number may then belong to another file. */
  private fd: number | undefined
  private readonly hash = createHash('sha256')

  /** Throws if there is such a file. */
  constructor(private readonly path: string) {
    this.fd = openSync(path, 'wx', 0o600)
  }

  append(bytes: Uint8Array): void {
    this.hash.update(bytes)
    const fd = this.opened()
    appendFileSync(fd, bytes)
    // Synced in parts: one sync of a hundred megabytes would delay the syncs of the log by half a second.
    fdatasyncSync(fd)
  }

  /** Ends the file and gives it its name. */
  async finish(name: string, { pages, rows }: Pick<SnapshotFooter, 'pages' | 'rows'>): Promise<void> {
    const fd = this.opened()
    appendFileSync(fd, footerLine({ pages, rows, sha256: this.hash.digest('hex') }))
    fsyncSync(fd)
    this.close()
    renameSync(this.path, name)
    await syncPath(dirname(name))
  }

  discard(): void {
    this.close()
    rmSync(this.path, { force: true })
  }

  private opened(): number {
    if (this.fd === undefined) throw new Error(`${this.path} is closed`)
    return this.fd
  }

  private close(): void {
    const { fd } = this
    this.fd = undefined
    if (fd !== undefined) closeSync(fd)
  }
}
