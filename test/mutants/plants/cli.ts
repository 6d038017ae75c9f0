/** The command line: what it draws, what it refuses, and what it tells scripts. */
import type { Plant } from '../plant.js'

const pictures = ['test/cli/pictures.test.ts']
const terminal = ['test/cli/terminal-pictures.test.ts']

export const cliPlants: ReadonlyArray<Plant> = [
  {
    title: 'command line: a terminal that does not know its width has none',
    file: 'packages/adapters/src/cli/printer.ts',
    find: 'columns() || said',
    replace: 'columns() ?? said',
    killedBy: ['test/cli/tables.test.ts'],
    named: 'on a terminal that does not know its width nothing is cut either',
  },
  {
    title: 'command line: a closed terminal ends commands before they have put things in order',
    file: 'packages/adapters/src/cli/io.ts',
    find: "['SIGINT', 'SIGTERM', 'SIGHUP']",
    replace: "['SIGINT', 'SIGTERM']",
    killedBy: ['test/cli/hang-up.test.ts'],
  },
  {
    title: 'command line: an interrupted export of queue files goes on',
    file: 'packages/adapters/src/cli/commands/export.ts',
    find: 'signal.throwIfAborted()',
    replace: 'void signal',
    killedBy: ['test/cli/commands.test.ts'],
  },
  {
    title: 'command line: an interrupted import does not say that a signal ended it',
    file: 'packages/adapters/src/cli/commands/import.ts',
    find: '        signal.throwIfAborted()\n',
    replace: '',
    killedBy: ['test/cli/import.test.ts'],
  },
  {
    title: 'command line: an interrupted import waits for its answer',
    file: 'packages/adapters/src/import/client-target.ts',
    find: 'signal === undefined ? {} : { signal }',
    replace: '{}',
    killedBy: ['test/cli/import.test.ts'],
  },
  {
    title: 'command line: a refusal of the queue is told as success',
    file: 'packages/adapters/src/cli/exit-codes.ts',
    find: '  return exitCodes.refused\n',
    replace: '  return exitCodes.done\n',
    killedBy: ['test/cli/commands.test.ts'],
  },
  {
    title: 'command line: a script gets a picture instead of a table',
    file: 'packages/adapters/src/cli/drawing/canvas.ts',
    find: "(wanted ?? (io.outIsTerminal && io.env.TERM !== 'dumb'))",
    replace: '(wanted ?? true)',
    killedBy: terminal,
  },
  {
    title: 'command line: --json has a picture in it',
    file: 'packages/adapters/src/cli/drawing/canvas.ts',
    find: '!isJson && ',
    replace: '',
    killedBy: terminal,
  },
  {
    title: 'command line: texts of strangers reach the terminal with their control characters',
    file: 'packages/adapters/src/cli/text.ts',
    find: ".replace(/\\s+/g, ' ')",
    replace: '',
    killedBy: ['test/cli/commands.test.ts'],
  },
  {
    title: 'pictures: a short trip of a breaker is lost among what came after',
    file: 'packages/adapters/src/cli/drawing/strip.ts',
    find: 'Math.max(cells[i] as number, state)',
    replace: 'cells[i] === -1 ? state : (cells[i] as number)',
    killedBy: pictures,
  },
  {
    title: 'pictures: what is more than nothing is drawn as nothing',
    file: 'packages/adapters/src/cli/drawing/column-chart.ts',
    find: 'Math.max(1, Math.round((value / top) * height * steps))',
    replace: 'Math.floor((value / top) * height)',
    killedBy: pictures,
  },
  {
    title: 'pictures: explain passes a gate that holds the task',
    file: 'packages/adapters/src/cli/explain/ladder.ts',
    find: '!runnable && (isAsked || !notes.has(reason.code))',
    replace: '!runnable && isAsked',
    killedBy: pictures,
  },
  {
    title: 'help: an example has an option that is not there',
    file: 'packages/adapters/src/cli/commands/list.ts',
    find: "'daybook list --search timeout --all'",
    replace: "'daybook list --search timeout --every'",
    killedBy: ['test/cli/help-examples.test.ts'],
  },
  {
    title: 'command line: a store that cannot be reached has the exit code of a log that was altered',
    file: 'packages/adapters/src/cli/exit-codes.ts',
    find: 'if (error instanceof StoreUnreachable) return exitCodes.unreachable',
    replace: 'if (error instanceof StoreUnreachable) return exitCodes.refused',
    killedBy: ['test/cli/eventstoredb.test.ts'],
  },
  {
    title: 'command line: an interruption is told as a refusal',
    file: 'packages/adapters/src/cli/exit-codes.ts',
    find: 'return exitCodes.interrupted\n  if (error instanceof DaybookError)',
    replace: 'return exitCodes.refused\n  if (error instanceof DaybookError)',
    killedBy: ['test/cli/audit-files.test.ts'],
  },
  {
    title: 'command line: a full disk behind the output is told by a stack trace',
    file: 'packages/adapters/src/cli/io.ts',
    find: 'process.exit(exitCodes.refused)',
    replace: 'throw error',
    killedBy: ['test/cli/usage.test.ts'],
  },
  {
    title: 'command line: a closed pipe is told as a failure',
    file: 'packages/adapters/src/cli/io.ts',
    find: "if (error.code === 'EPIPE') process.exit()",
    replace: '',
    killedBy: ['test/cli/usage.test.ts'],
  },
]
