/** The text of a server's first start. */
import type { LogAddress } from '../store/index.js'
import type { Io } from './io.js'
import { urlDefault } from './connection.js'

export interface FirstStart {
  readonly url: string
  readonly adminToken: string
  /** The address of the web console with the token; `undefined` if the console is not served. */
  readonly console: string | undefined
  readonly store: LogAddress | { readonly kind: 'memory' }
  /** An absolute path. */
  readonly dataDir: string
}

/** How the user calls the program. npm sets a variable for programs that it runs, and after `npm start` there is no `daybook` on the PATH. */
const programName = (env: Io['env']): string => (env.npm_command === undefined ? 'daybook' : 'npx daybook')

const placeOf = ({ store, dataDir }: FirstStart): string => {
  if (store.kind === 'memory') return 'in memory: all is forgotten when the server stops'
  return store.kind === 'eventstoredb' ? `EventStoreDB; snapshots in ${dataDir}` : dataDir
}

/** Lines for the terminal: where the server is, the admin token, what to try, where the data is, how to stop. */
export const firstStartText = (start: FirstStart, env: Io['env']): string => {
  const { url, adminToken, console: opens } = start
  const program = programName(env)
  const facts: ReadonlyArray<readonly [string, string]> = [
    ['address', url],
    ...(opens === undefined ? [] : [['console', opens] as const]),
    ['data', placeOf(start)],
    ['stop', 'Ctrl-C; what was acknowledged stays'],
  ]
  const commands = [
    ...(url === urlDefault ? [] : [`export DAYBOOK_URL=${url}`]),
    `export DAYBOOK_TOKEN=${adminToken}`,
    `${program} enqueue eng-docs --payload '{"goal":"describe the login"}'`,
    `${program} list`,
    `${program} --help`,
  ]
  return [
    '',
    ...facts.map(([name, value]) => `  ${name.padEnd(9)}${value}`),
    '',
    '  Next, in another terminal. The admin token is shown at this start only:',
    '',
    ...commands.map((command) => `    ${command}`),
    '',
  ].join('\n')
}
