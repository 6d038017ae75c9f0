/** The program `daybook`. */
import { leave, processIo } from './io.js'
import { run } from './program.js'

const code = await run(process.argv.slice(2), processIo())
// Output into a pipe is written in the background, so the program exits once it has been taken. It then exits in any case, because a timer that is
// still set would keep the process alive.
await Promise.all([process.stdout, process.stderr].map((stream) => new Promise((resolve) => stream.write('', resolve))))
leave(code)
