/**
 * An export of a log as a Parquet file: a row for each event, with its data as JSON text. The manifest is in the key-value metadata of the footer, as
 * `daybook.manifest`. One row group is in memory at a time.
 */
import { createHash } from 'node:crypto'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { HistoryEvent } from '../../client/index.js'
import { type EventWriter, formatVersion, type Manifest, type WithoutHash } from './manifest.js'
import type { EventLines } from './source.js'

const manifestKey = 'daybook.manifest'

/** The largest number of rows in a row group, and of bytes of their data. */
const groupRowsMax = 50_000
const groupBytesMax = 16 * 2 ** 20

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
  // JSON as text: readers have functions for that, and not all of them know the JSON type.
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
  readonly data: Array<Uint8Array>
}

/** Columns whose values nearly always differ: their minimum and maximum help nobody, and a dictionary would be as long as the column. */
const variousColumns: ReadonlyArray<string> = ['correlationId', 'data']

type Head = Omit<HistoryEvent, 'data'>

// eslint-disable-next-line no-control-regex -- these are the characters that JSON escapes
const plain = /^\{"revision":(\d{1,15}),"type":"([^"\\\x00-\x1f]*)","schemaVersion":(\d{1,9}),"at":"([^"\\\x00-\x1f]*)"(?:,"needs":"([^"\\\x00-\x1f]*)")?(?:,"actor":"([^"\\\x00-\x1f]*)")?(?:,"correlationId":"([^"\\\x00-\x1f]*)")?$/

/** Read without a parser if nothing in it is escaped; otherwise `undefined`. */
const plainHead = (head: string): Head | undefined => {
  const found = plain.exec(head)
  if (found === null) return undefined
  const [, revision, type = '', schemaVersion, at = '', needs, actor, correlationId] = found
  return { revision: Number(revision), type, schemaVersion: Number(schemaVersion), at, ...{ needs, actor, correlationId } } as Head
}

const noRows = (): Columns => ({ revision: [], type: [], schemaVersion: [], at: [], needs: [], actor: [], correlationId: [], data: [] })

export class ParquetExport implements EventWriter {
  private readonly hash = createHash('sha256')
  private readonly bytes = new ByteWriter(2 ** 20)
  private readonly file = new ParquetWriter({ writer: this.bytes, schema: [...schema], createdBy: 'daybook' })
  private rows = noRows()
  private bytesInGroup = 0
  private events = 0
  /** The value of the previous row: many rows have the same. */
  private lastAt = ''
  private lastMs = 0n

  /** `write` gets an array that it may keep. */
  constructor(private readonly write: (bytes: Uint8Array<ArrayBuffer>) => Promise<void> | void) {}

  async lines({ bytes, events }: EventLines): Promise<void> {
    this.hash.update(bytes)
    this.events += events
    for (let at = 0; at < bytes.length; ) {
      // No text can contain this, because quotes in texts are escaped.
      const mark = bytes.indexOf(beforeData, at)
      const data = mark + beforeData.length
      const end = bytes.indexOf(lineFeed, data)
      this.row(bytes.toString('utf8', at, mark), bytes.subarray(data, end - 1))
      at = end + 1
      if (this.rows.type.length >= groupRowsMax || this.bytesInGroup >= groupBytesMax) await this.endGroup()
    }
  }

  /** `head`: the line up to its data. */
  private row(head: string, data: Buffer): void {
    const { rows } = this
    const { revision, type, schemaVersion = 1, at, needs, actor, correlationId } = plainHead(head) ?? (JSON.parse(`${head}}`) as Head)
    if (at !== this.lastAt) {
      this.lastAt = at
      this.lastMs = BigInt(Date.parse(at))
    }
    rows.revision.push(BigInt(revision))
    rows.type.push(type)
    rows.schemaVersion.push(schemaVersion)
    rows.at.push(this.lastMs)
    rows.needs.push(needs)
    rows.actor.push(actor)
    rows.correlationId.push(correlationId)
    rows.data.push(data)
    this.bytesInGroup += data.length
  }

  async end(rest: WithoutHash): Promise<Manifest> {
    await this.endGroup()
    const manifest: Manifest = { format: formatVersion, ...rest, events: this.events, sha256: this.hash.digest('hex') }
    this.file.kvMetadata = [{ key: manifestKey, value: JSON.stringify(manifest) }]
    await this.file.finish()
    await this.flush()
    return manifest
  }

  private async endGroup(): Promise<void> {
    if (this.rows.type.length === 0) return
    const columnData = Object.entries(this.rows).map(([name, data]: [string, Array<unknown>]) => (variousColumns.includes(name) ? { name, data, encoding: 'PLAIN' as const, statistics: false } : { name, data }))
    this.rows = noRows()
    this.bytesInGroup = 0
    await this.file.write({ columnData, rowGroupSize: groupRowsMax })
    await this.flush()
  }

  /** Passes on what was written so far. `offset` of the writer still counts from the beginning of the file. */
  private async flush(): Promise<void> {
    const part = this.bytes.getBytes().slice()
    this.bytes.index = 0
    await this.write(part)
  }
}
