/** Gives chunks to row files of limited size until no more are accepted, and checks the accepted ones. */
import { openRowFiles } from '@daybook/adapters/files'

const { dir, chunkBytes } = JSON.parse(process.argv[2])
const warnings = []
const store = openRowFiles(dir, { warn: (message) => warnings.push(message), fileBytes: 400_000 }).storeOf('q')
const columns = new Float64Array(512)
const kept = []
let refused = 0
while (refused < 3) {
  const bytes = new Uint8Array(chunkBytes).fill(kept.length + 1)
  const taken = store.keep(bytes, columns)
  if (taken === undefined) refused++
  else kept.push(taken)
}
// Smaller chunks fit where a larger one was written in part.
const small = store.keep(new Uint8Array(1_000).fill(99), columns)
const right = kept.filter((each, n) => each.read().every((byte) => byte === n + 1)).length
process.stdout.write(`${JSON.stringify({ kept: kept.length, right, small: small?.read().every((byte) => byte === 99), warnings })}\n`)
