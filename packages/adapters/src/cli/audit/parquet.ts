/**
 * An export of a log as a Parquet file: a row for each event, with its data as a JSON text, and the manifest among the key-value metadata of its footer, as `daybook.manifest`.
 * One row group is in memory at a time.
 */
import { createHash } from 'node:crypto'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { HistoryEvent } from '../../client/index.js'
import { type EventWriter, formatVersion, lineOf, type Manifest } from './exported.js'

export const manifestKey = 'daybook.manifest'

/** Rows of a row group, at most, and characters of their data. */
const groupRowsMax = 50_000
const groupTextMax = 16 * 2 ** 20

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

  async event(event: HistoryEvent): Promise<void> {
    const { rows } = this
    const data = JSON.stringify(event.data)
    rows.revision.push(BigInt(event.revision))
    rows.type.push(event.type)
    rows.schemaVersion.push(event.schemaVersion ?? 1)
    rows.at.push(BigInt(Date.parse(event.at)))
    rows.needs.push(event.needs)
    rows.actor.push(event.actor)
    rows.correlationId.push(event.correlationId)
    rows.data.push(data)
    this.hash.update(lineOf(event))
    this.events++
    this.textInGroup += data.length
    if (rows.type.length >= groupRowsMax || this.textInGroup >= groupTextMax) await this.endGroup()
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
