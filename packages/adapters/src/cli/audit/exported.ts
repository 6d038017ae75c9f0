/**
 * An export of a log: its events as lines of JSON, as the server streams them, and a manifest as the last line. The manifest lets a reader check that
 * nothing is missing or was altered on the way, and compare what the events fold to.
 */
import { createHash } from 'node:crypto'
import { plural } from '@daybook/core/common'
import type { HistoryEvent } from '../../client/index.js'
import { type EventWriter, formatVersion, type Manifest, type WithoutHash } from './manifest.js'
import type { EventLines } from './source.js'
import { isObject } from '../../is-object.js'

/** The line of an event. The hash is computed over these lines in every format. */
export const lineOf = (event: HistoryEvent): string => `${JSON.stringify(event)}\n`

export class ExportWriter implements EventWriter {
  private readonly hash = createHash('sha256')
  private events = 0

  constructor(private readonly write: (bytes: Buffer) => Promise<void> | void) {}

  async lines({ bytes, events }: EventLines): Promise<void> {
    this.hash.update(bytes)
    this.events += events
    await this.write(bytes)
  }

  async end(rest: WithoutHash): Promise<Manifest> {
    const manifest: Manifest = { format: formatVersion, ...rest, events: this.events, sha256: this.hash.digest('hex') }
    await this.write(Buffer.from(`${JSON.stringify({ manifest })}\n`, 'utf8'))
    return manifest
  }
}

/** An export is not whole, or was altered. */
export class BrokenExport extends Error {
  override readonly name = 'BrokenExport'
}

/**
 * The events of an export as they are read, then its manifest.
 *
 * @throws BrokenExport if it is not whole, or was altered. Earlier events were yielded by then.
 */
export const readExport = async function* (lines: AsyncIterable<string>): AsyncGenerator<HistoryEvent, Manifest> {
  const hash = createHash('sha256')
  let events = 0
  let last = -1
  let unread: string | undefined
  let manifest: Manifest | undefined
  for await (const line of lines) {
    if (unread !== undefined) throw new BrokenExport(noJson(unread))
    if (line.trim() === '') continue
    if (manifest !== undefined) throw new BrokenExport('there is more after its manifest')
    const value = parsed(line)
    if (value === undefined) {
      if (events === 0 && line.startsWith('PAR1')) throw new BrokenExport('it is a Parquet file, and only lines of JSON are replayed: export it once more with --format ndjson')
      unread = line
      continue
    }
    if ('manifest' in value) {
      manifest = (value as { readonly manifest: Manifest }).manifest
      if (!isObject(manifest)) throw new BrokenExport('its last line is no manifest')
      if (manifest.format !== formatVersion) throw new BrokenExport(`it is of format ${String(manifest.format)}, not ${formatVersion}`)
      if (manifest.events !== events) throw new BrokenExport(`it has ${plural(events, 'event')}, and its manifest says ${manifest.events}`)
      if (manifest.sha256 !== hash.digest('hex')) throw new BrokenExport('its events are not those that were exported: the hash is another one')
      if (!isObject(manifest.byStatus)) throw new BrokenExport('its manifest does not say how many tasks there were: byStatus is missing')
      continue
    }
    const event = value as HistoryEvent
    if (typeof event.revision !== 'number' || typeof event.type !== 'string' || typeof event.at !== 'string' || event.data === undefined) throw new BrokenExport(`line ${events + 1} is not an event`)
    if (event.revision <= last) throw new BrokenExport(`revision ${event.revision} comes after ${last}`)
    last = event.revision
    hash.update(`${line}\n`)
    events++
    yield event
  }
  if (manifest !== undefined) return manifest
  throw new BrokenExport(unread === undefined ? 'it has no manifest: it is cut short' : `it ends in the middle, so it is cut short: ${noJson(unread)}`)
}

const noJson = (line: string): string => `this line is no JSON: ${line.slice(0, 80)}`

const parsed = (line: string): object | undefined => {
  try {
    const value: unknown = JSON.parse(line)
    if (isObject(value)) return value
  } catch {
    // Reported by the caller, who knows whether it is the last line.
  }
  return undefined
}
