/**
 * Reads the findings of a result and prepares them to become tasks (TQM-BR-001, TQM-VF-001). It accepts the reference model of the requirements and
 * what agents make of it: other spellings of names, any case. What it does not understand is counted, and stays in the result.
 */
import { bands, canonicalJson, clipped, type Findings, type Json, Name, Priority, priorityOf, redacted, redactedIn, type Result, textMax } from '@daybook/core'
import { isObject } from '../../is-object.js'
import { parseObject } from '../log/wire.js'

type Finding = Findings['discoveries'][number]
type Members = Readonly<Record<string, Json>>

/** No setting allows more tasks from one completion. */
const discoveriesMax = 1_000
/** The largest part of a parent's metadata, and of its payload, that each child gets, in bytes. */
const inheritedMax = 16 * 1024

/** The findings of a result; `undefined` if there are none. */
export const findingsOf = (result: Result): Findings | undefined => {
  const { discoveries = [], validationFailed, validation_failed } = result
  const isInvalid = validationFailed === true || validation_failed === true
  if (discoveries.length === 0 && !isInvalid) return undefined
  const read = discoveries.slice(0, discoveriesMax).flatMap((discovery) => readDiscovery(discovery) ?? [])
  const left = discoveries.length - read.length
  return isInvalid ? { discoveries: read, left, validation: validationOf(result) } : { discoveries: read, left }
}

const readDiscovery = (discovery: Json): Finding | undefined => {
  if (!isObject(discovery)) return undefined
  const type = firstText(discovery, 'type', 'kind', 'discoveryType', 'discovery_type')
  // Some languages print a member of an enumeration with the enumeration's name: `DiscoveryType.SECURITY_ISSUE`.
  const kind = type?.slice(type.lastIndexOf('.') + 1)
  if (kind === undefined || !Name.is(kind)) return undefined
  const details = firstText(discovery, 'details', 'detail', 'description', 'summary', 'message', 'title')
  const ticketId = firstText(discovery, 'ticketId', 'ticket_id', 'ticket')
  const priority = priorityIn(discovery.severity ?? discovery.priority)
  const safe = redacted(discovery)
  return {
    kind,
    content: canonicalJson({ payload: { discovery: safe }, description: clipped(redactedIn(details === undefined ? kind : `${kind}: ${details}`), textMax) }),
    ...(priority === undefined ? {} : { priority }),
    ...(ticketId !== undefined && Name.is(ticketId) ? { ticketId } : {}),
  }
}

const validationOf = ({ errors = [], output }: Result): NonNullable<Findings['validation']> => {
  const said = errors.length > 0 ? errors.join('\n') : typeof output === 'string' && output !== '' ? output : 'validation failed'
  const error = clipped(redactedIn(clipped(said, 4 * textMax)), textMax)
  const payload = { validation: { errors: redacted(errors) } }
  return {
    error,
    fix: canonicalJson({ payload, description: clipped(`Fix what validation found: ${error}`, textMax) }),
    check: canonicalJson({ payload, description: clipped(`Validate again. It failed before with: ${error}`, textMax) }),
  }
}

/** Adds metadata, description and payload of the parent task to the contents of the findings. `content`: that of the parent. */
export const withParent = (found: Findings, content: string): Findings => {
  const parent = parseObject(content) as Members | undefined
  if (parent === undefined) return found
  const { payload = null, description, metadata } = parent
  const about = canonicalJson({
    ...(typeof description === 'string' ? { description: redactedIn(description) } : {}),
    ...(payload === null ? {} : { payload: short(payload, 'payload') }),
  })
  const inherited = isObject(metadata ?? null) ? `,"metadata":${canonicalJson(short(metadata as Json, 'metadata'))}` : ''
  // Each content begins with its payload, and has no metadata.
  const joined = (text: string): string => {
    const own = parseObject(text) as Members
    const rest = own.description === undefined ? '' : `,"description":${JSON.stringify(own.description)}`
    return `{"payload":${canonicalJson({ ...(own.payload as Members), parent: JSON.parse(about) as Json })}${rest}${inherited}}`
  }
  const { discoveries, validation, left } = found
  return {
    discoveries: discoveries.map((finding) => ({ ...finding, content: joined(finding.content) })),
    left,
    ...(validation === undefined ? {} : { validation: { ...validation, fix: joined(validation.fix), check: joined(validation.check) } }),
  }
}

/** Half of the discoveries; in the end none, and no validation. For findings that do not fit in one append. */
export const halved = (found: Findings): Findings | undefined => {
  const { discoveries, left, validation } = found
  if (discoveries.length === 0) return validation === undefined ? undefined : { discoveries, left }
  const kept = discoveries.slice(0, Math.floor(discoveries.length / 2))
  return { ...found, discoveries: kept, left: left + discoveries.length - kept.length }
}

const short = (value: Json, what: string): Json => {
  const safe = redacted(value)
  return Buffer.byteLength(canonicalJson(safe)) <= inheritedMax ? safe : { omitted: `the ${what} of the parent is over ${inheritedMax} bytes: see there` }
}

const firstText = (members: Members, ...names: ReadonlyArray<string>): string | undefined => {
  for (const name of names) {
    const value = members[name]
    if (typeof value === 'string' && value.trim() !== '') return value.trim()
  }
  return undefined
}

/** The number of a priority: a name in any case, or a number from 1 to 10. */
const priorityIn = (value: Json | undefined): number | undefined => {
  if (typeof value === 'number') return Priority.is(value) ? value : undefined
  if (typeof value !== 'string') return undefined
  const name = value.slice(value.lastIndexOf('.') + 1).toUpperCase()
  const band = bands.find((each) => each === name)
  return band === undefined ? undefined : priorityOf[band]
}
