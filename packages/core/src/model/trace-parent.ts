/** W3C Trace Context: the `traceparent` of the span that a task comes from (https://www.w3.org/TR/trace-context-2/). */
import * as t from 'io-ts'

const version00 = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/
/** Later versions begin like version 00, and may go on after another hyphen. */
const later = /^(?!ff|00)[0-9a-f]{2}-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/

/** A `traceparent` of version 00 whose ids are not all zero: 55 characters. */
export const TraceParent = t.refinement(t.string, (text) => version00.test(text), 'traceparent: 00-TRACE-SPAN-FLAGS in lower-case hexadecimal digits, ids not all zero')

/**
 * A header converted to version 00; of a later version, only the parts that version 00 has. `undefined` if it is not valid: the reader then starts a
 * trace of its own.
 */
export const traceParentOf = (header: string | undefined): string | undefined => {
  if (header === undefined || version00.test(header)) return header
  const [, trace, span, flags] = later.exec(header) ?? []
  return trace === undefined || span === undefined ? undefined : `00-${trace}-${span}-0${Number.parseInt(flags as string, 16) & 1}`
}
