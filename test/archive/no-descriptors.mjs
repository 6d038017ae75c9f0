// Reads a segment while this process may open no more files, and again afterwards. Prints how each attempt ended.
import { closeSync, openSync } from 'node:fs'
import { openSegment } from '@daybook/adapters/segments'
import { LostEvents } from '@daybook/adapters/store'

const { file, ...named } = JSON.parse(process.argv[2])
const segment = await openSegment(file, named)
const [place] = segment.index.blocks
const taken = []
try {
  for (;;) taken.push(openSync('/dev/null'))
} catch {
  // There are no more.
}
const outcomes = []
const attempt = async (name, read) => {
  const error = await read().then(() => undefined, (failure) => failure)
  outcomes.push(`${name} ${error?.code} ${error instanceof LostEvents} ${/EMFILE/.exec(error?.message)}`)
}
await attempt('open', () => openSegment(file, named))
await attempt('block', () => segment.block(place))
for (const descriptor of taken) closeSync(descriptor)
await segment.block(place)
process.stdout.write(`${outcomes.join('\n')}\nread again\n`)
