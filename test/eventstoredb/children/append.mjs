// Appends one event after another with the unmodified client, in a separate process: some faults of
// a server cause an unhandled rejection, which ends the process.
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client'

const { url, stream, count, ids } = JSON.parse(process.argv[2])
const say = (line) => process.stdout.write(`${line}\n`)
process.on('unhandledRejection', (reason) => say(`unhandled ${reason}`))

const client = EventStoreDBClient.connectionString(url)
for (let i = 0; i < count; i++) {
  try {
    const { nextExpectedRevision } = await client.appendToStream(
      stream,
      [jsonEvent({ ...(ids === undefined ? {} : { id: ids[i] }), type: 'tested', data: { i } })],
      { expectedRevision: i === 0 ? 'no_stream' : BigInt(i - 1) },
    )
    say(`appended ${nextExpectedRevision}`)
  } catch (error) {
    say(`failed ${error.type}`)
  }
}
say('done')
// The parent decides how long to wait after the answers.
process.stdin.on('end', () => process.exit(0)).resume()
