/**
 * Entry point of the thread that writes snapshot files. On the deciding thread, each step of such work would wait for a turn of a busy event loop, and
 * there are some thirty in a snapshot. Requests are answered one after the other, except merges, which take seconds and go on beside others.
 */
import { type MessagePort, parentPort } from 'node:worker_threads'
import { join } from 'node:path'
import { lowerPriority } from '../../lower-priority.js'
import type { SnapshotHeader } from '../../store/index.js'
import { answerRequests } from '../../threads/requests.js'
import { type Kept, prune } from './prune.js'
import { seriesOf } from './series.js'
import { headerLine, type SnapshotFooter } from './snapshot-format.js'
import { snapshotName } from './snapshot-names.js'
import { UnfinishedFile } from './unfinished-file.js'

/**
 * `path`: that of the unfinished file. `commit` gives it its name in `dir`, and prunes the folder. It is answered
 * with the row files that {@link prune} returns, all others with an empty list. `merge`: see `merge-series.ts`.
 */
export type SnapshotRequest =
  | { readonly kind: 'create'; readonly path: string; readonly dir: string; readonly header: SnapshotHeader }
  | { readonly kind: 'append'; readonly path: string; readonly bytes: Uint8Array<ArrayBuffer> }
  | ({ readonly kind: 'commit'; readonly path: string; readonly dir: string; readonly header: SnapshotHeader; readonly kept: Kept } & Pick<SnapshotFooter, 'pages' | 'rows'>)
  | { readonly kind: 'abort'; readonly path: string }
  | { readonly kind: 'merge'; readonly path: string; readonly dir: string; readonly header: SnapshotHeader }

const files = new Map<string, UnfinishedFile>()
const merging = new Map<string, AbortController>()

const fileAt = (path: string): UnfinishedFile => {
  const file = files.get(path)
  if (file === undefined) throw new Error(`${path} is not being written`)
  return file
}

const answer = async (request: SnapshotRequest): Promise<ReadonlyArray<string>> => {
  const { path } = request
  switch (request.kind) {
    case 'create': {
      const { dir, header } = request
      // Without its bases an increment would be of no use.
      if (header.base !== undefined) await seriesOf(dir, header, header.base)
      const file = new UnfinishedFile(path)
      files.set(path, file)
      file.append(Buffer.from(headerLine(header)))
      return []
    }
    case 'append':
      fileAt(path).append(request.bytes)
      return []
    case 'commit': {
      const { dir, header, kept } = request
      await fileAt(path).finish(join(dir, snapshotName(header.stream, header.revision)), request)
      files.delete(path)
      return prune(dir, header, kept)
    }
    case 'abort':
      merging.get(path)?.abort()
      files.get(path)?.discard()
      files.delete(path)
      return []
    case 'merge': {
      const stopping = new AbortController()
      merging.set(path, stopping)
      try {
        // It needs the core, which the other requests do not.
        const { mergeSeries } = await import('./merge-series.js')
        await mergeSeries(request.dir, request.header, path, stopping.signal)
      } finally {
        merging.delete(path)
      }
      return []
    }
  }
}

const serve = (port: MessagePort): void => {
  lowerPriority()
  let turn: Promise<unknown> = Promise.resolve()
  answerRequests<SnapshotRequest>(port, (request) => {
    if (request.kind === 'merge') return answer(request)
    const answered = turn.then(() => answer(request))
    turn = answered.catch(() => undefined)
    return answered
  })
}

if (parentPort !== null) serve(parentPort)
