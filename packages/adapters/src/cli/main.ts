/** The program `daybook`. */
import { processIo } from './io.js'
import { run } from './program.js'

const code = await run(process.argv.slice(2), processIo())
// Into a pipe, output is written in the background: leave when it has arrived, and not later. A forgotten timer
// must not keep anybody waiting for an answer that has been given.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
process.exit(code)
