/**
 * An export of a log as a Parquet file: a row for each event, with its data as a JSON text, and the manifest among the key-value metadata of its footer, as `daybook.manifest`.
 * One row group is in memory at a time.
 */
import { createHash } from 'node:crypto'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { HistoryEvent } from '../../client/index.js'
import { type EventWriter, formatVersion, type Manifest } from './exported.js'
import type { EventLines } from './source.js'

export const manifestKey = 'daybook.manifest'

/** Rows of a row group, at most, and characters of their data. */
const groupRowsMax = 50_000
const groupTextMax = 16 * 2 ** 20

const lineFeed = 0x0a
const beforeData = ',"data":'

const text = (name: string, isOptional: boolean) => ({ name, type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: isOptional ? 'OPTIONAL' : 'REQUIRED' }) as const

const schema = [
  { name: 'events', num_children: 8 },
  { name: 'revision', type: 'INT64', repetition_type: 'REQUIRED' },
  text('type', false),
  { name: 'schemaVersion', type: 'INT32', repetition_type: 'REQUIRED' },
  { name: 'at', type: 'INT64', converted_type: 'TIMESTAMP_MILLIS', repetition_type: 'REQUIRED' },
  text('needs', true),
  text('actor', true),
  text('correlationId', true),
  // JSON, as a text: readers have functions for that, and not all of them know the type.
  text('data', false),
] as const

interface Columns {
  readonly revision: Array<bigint>
  readonly type: Array<string>
  readonly schemaVersion: Array<number>
  readonly at: Array<bigint>
  readonly needs: Array<string | undefined>
  readonly actor: Array<string | undefined>
  readonly correlationId: Array<string | undefined>
  readonly data: Array<string>
}

const noRows = (): Columns => ({ revision: [], type: [], schemaVersion: [], at: [], needs: [], actor: [], correlationId: [], data: [] })

export class ParquetExport implements EventWriter {
  private readonly hash = createHash('sha256')
  private readonly bytes = new ByteWriter(2 ** 20)
  private readonly file = new ParquetWriter({ writer: this.bytes, schema: [...schema], createdBy: 'daybook' })
  private rows = noRows()
  private textInGroup = 0
  private events = 0

  constructor(private readonly write: (bytes: Uint8Array) => Promise<void>) {}

  async lines({ bytes, events }: EventLines): Promise<void> {
    this.hash.update(bytes)
    this.events += events
    for (let at = 0; at < bytes.length; ) {
      const end = bytes.indexOf(lineFeed, at)
      this.row(bytes.toString('utf8', at, end))
      at = end + 1
      if (this.rows.type.length >= groupRowsMax || this.textInGroup >= groupTextMax) await this.endGroup()
    }
  }

  private row(line: string): void {
    const { rows } = this
    // No text has this in it, because there its quotes are escaped.
    const mark = line.indexOf(beforeData)
    const event = JSON.parse(`${line.slice(0, mark)}}`) as Omit<HistoryEvent, 'data'>
    const data = line.slice(mark + beforeData.length, -1)
    rows.revision.push(BigInt(event.revision))
    rows.type.push(event.type)
    rows.schemaVersion.push(event.schemaVersion ?? 1)
    rows.at.push(BigInt(Date.parse(event.at)))
    rows.needs.push(event.needs)
    rows.actor.push(event.actor)
    rows.correlationId.push(event.correlationId)
    rows.data.push(data)
    this.textInGroup += data.length
  }

  async end(rest: Omit<Manifest, 'format' | 'events' | 'sha256'>): Promise<Manifest> {
    await this.endGroup()
    const manifest: Manifest = { format: formatVersion, ...rest, events: this.events, sha256: this.hash.digest('hex') }
    this.file.kvMetadata = [{ key: manifestKey, value: JSON.stringify(manifest) }]
    await this.file.finish()
    await this.flush()
    return manifest
  }

  private async endGroup(): Promise<void> {
    if (this.rows.type.length === 0) return
    const columnData = Object.entries(this.rows).map(([name, data]: [string, Array<unknown>]) => (name === 'data' ? { name, data, encoding: 'PLAIN' as const, statistics: false } : { name, data }))
    this.rows = noRows()
    this.textInGroup = 0
    await this.file.write({ columnData, rowGroupSize: groupRowsMax })
    await this.flush()
  }

  /** Hands over what was written so far. `offset` of the writer still counts from the beginning of the file. */
  private async flush(): Promise<void> {
    const part = this.bytes.getBytes().slice()
    this.bytes.index = 0
    await this.write(part)
  }
}
