/** Puts a whole snapshot in the place of an increment. It has all that the increment and its bases have, so a start reads one file instead of many. */
import { mergeSnapshots, type SnapshotPage } from '@daybook/core'
import type { SnapshotHeader } from '../../store/index.js'
import { seriesOf } from './series.js'
import { headerLine, rowsLine } from './snapshot-format.js'
import { bytesOf } from './snapshot-page-bytes.js'
import { readSnapshotPages } from './snapshot-pages.js'
import { UnfinishedFile } from './unfinished-file.js'
import { WriteBuffer } from './write-buffer.js'

/** `path`: that of the unfinished file. Rejects if a file of the series is not there, or is damaged, or if the signal ends it; the increment then stays as it is. */
export const mergeSeries = async (dir: string, { base: _, ...header }: SnapshotHeader, path: string, signal: AbortSignal): Promise<void> => {
  const series = await seriesOf(dir, header, header)
  const [increment] = series
  const whole = new UnfinishedFile(path)
  try {
    const buffer = new WriteBuffer()
    let pages = 0
    const write = (page: SnapshotPage): void => {
      bytesOf(page).forEach((bytes) => buffer.add(bytes))
      pages++
      if (buffer.isFull) whole.append(buffer.take())
    }
    buffer.add(Buffer.from(headerLine(header)))
    const merge = mergeSnapshots()
    for (const each of series) {
      if (each !== increment) merge.base()
      for await (const page of readSnapshotPages(each.path, each.file)) {
        signal.throwIfAborted()
        merge.page(page).forEach(write)
      }
    }
    merge.finish().forEach(write)
    const rows = Buffer.from(rowsLine(increment.file.rows))
    buffer.add(rows)
    whole.append(buffer.take())
    await whole.finish(increment.path, { pages, rows: rows.byteLength })
  } catch (error) {
    whole.discard()
    throw error
  }
}
