/** Failure signatures have 64 characters. People use a unique prefix. */
import type { DaybookClient } from '../client/index.js'
import { CliError } from './exit-codes.js'

const wholeLength = 64
const shortMin = 12

/** Cuts all signatures to the shortest length at which they differ; at least 12. */
export const shortSignatures = (signatures: ReadonlyArray<string>): ReadonlyArray<string> => {
  const distinct = [...new Set(signatures)]
  let length = shortMin
  while (length < wholeLength && new Set(distinct.map((signature) => signature.slice(0, length))).size < distinct.length) length++
  return signatures.map((signature) => signature.slice(0, length))
}

/** @throws CliError if no dead letter has a signature with this prefix, or if several have. */
export const resolveSignature = async (client: DaybookClient, given: string): Promise<string> => {
  if (given.length >= wholeLength) return given
  const found = (await client.deadLetters.patterns()).filter(({ signature }) => signature.startsWith(given.toLowerCase()))
  const [first, ...others] = [...new Set(found.map(({ signature }) => signature))]
  if (first === undefined) throw new CliError(`no dead letter has a signature that begins with ${given}: daybook dlq patterns shows them`)
  if (others.length === 0) return first
  const candidates = found.map(({ signature, type, count }) => `\n  ${signature}  ${type}, ${count}`)
  throw new CliError(`${given} is the beginning of ${others.length + 1} signatures: say more of the one that you mean${candidates.join('')}`)
}
