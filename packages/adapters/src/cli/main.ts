/** The program `daybook`. */
import { processIo } from './io.js'
import { run } from './program.js'

const code = await run(process.argv.slice(2), processIo())
// Output into a pipe is written in the background: exit once it has been taken. Exit then in any case, since a timer that is
// still set would keep the process alive after its answer.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
process.exit(code)
