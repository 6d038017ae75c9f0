/** Finds bodies that are refused in any case, without parsing them. */
import { backslash, closeBrace, closeBracket, comma, openBrace, openBracket, quote } from './json-bytes.js'

/** The shortest item of a list and the shortest member of an object, each with the comma behind it. */
const itemMin = '1,'.length
const memberMin = '"":1,'.length

/**
 * Whether a list or an object of this JSON has so many parts that its text is over `bytesMax` bytes without any white space. To parse an object with
 * hundreds of thousands of members takes a second.
 *
 * Cost: O(length), some milliseconds for a megabyte.
 */
export const isCrowded = (bytes: Buffer, bytesMax: number): boolean => {
  if (bytes.length <= bytesMax) return false
  /** For each open list or object, the outermost first: how many bytes its parts so far take at least, and how many one more takes. */
  const sizes: Array<number> = []
  const mins: Array<number> = []
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        at = stringEnd(bytes, at)
        break
      case openBrace:
        sizes.push(0)
        mins.push(memberMin)
        break
      case openBracket:
        sizes.push(0)
        mins.push(itemMin)
        break
      case closeBrace:
      case closeBracket:
        sizes.pop()
        mins.pop()
        break
      case comma: {
        const inside = sizes.length - 1
        if (inside >= 0 && (sizes[inside] = (sizes[inside] as number) + (mins[inside] as number)) > bytesMax) return true
        break
      }
      default:
    }
  }
  return false
}

/** The offset of the quote that ends the text beginning at `start`, or of the end of the bytes. */
const stringEnd = (bytes: Buffer, start: number): number => {
  for (let at = start + 1; at < bytes.length; at++) {
    if (bytes[at] === quote) return at
    if (bytes[at] === backslash) at++
  }
  return bytes.length
}
