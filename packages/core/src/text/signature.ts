/** A signature that is equal for failures that differ only in details (LK-11, TQM-VF-003). */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

const textMax = 2_000
/** Schemes are short. Without this bound, each `a.` of `a.a.a.…` would be searched to its end for `://`. */
const schemeMax = 32
const url = new RegExp(`\\b[a-z][a-z0-9+.-]{0,${schemeMax - 1}}:\\/\\/\\S+`, 'g')

/**
 * The error text without the details that differ between occurrences: UUIDs, hex, paths, URLs and numbers.
 * Only the first 2,000 characters count.
 *
 * Cost: O(length).
 *
 * @example
 * failurePattern('ENOENT /tmp/a1/b.txt after 31 ms') // => 'enoent <path> after <n> ms'
 */
export const failurePattern = (text: string): string =>
  text
    .slice(0, textMax)
    .toLowerCase()
    .replace(url, '<url>')
    .replace(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, '<id>')
    .replace(/(?:\b[a-z]:)?(?:[\\/][\w.@+-]+){1,}[\\/]?/g, '<path>')
    .replace(/\b0x[0-9a-f]+\b|\b(?=[a-f]*[0-9])[0-9a-f]{8,}\b/g, '<hex>')
    .replace(/\d+(?:\.\d+)*/g, '<n>')
    .replace(/\s+/g, ' ')
    .trim()

/** SHA-256, as 64 hex digits, of type, phase and {@link failurePattern}. */
export const failureSignature = (type: string, phase: string | undefined, text: string): string =>
  bytesToHex(sha256(utf8ToBytes(`${type}\n${phase ?? ''}\n${failurePattern(text)}`)))
