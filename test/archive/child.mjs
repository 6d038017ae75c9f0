/** Moves events into an archive, and kills itself at the `killAt`-th step. Arguments: file, stream, before, killAt. */
import { archiveLog } from '@daybook/adapters/archive'
import { archiveBeside } from '@daybook/adapters/segments'

const [file, stream, before, killAt] = process.argv.slice(2)
let steps = 0
await archiveLog({
  address: { kind: 'sqlite', file },
  archive: archiveBeside(file),
  streams: [stream],
  before: { revision: Number(before) },
  segmentEventsMax: 200,
  blockBytes: 45_000,
  removeMax: 120,
  progress: ({ step }) => {
    process.stdout.write(`${step}\n`)
    if (++steps === Number(killAt)) process.kill(process.pid, 'SIGKILL')
  },
})
