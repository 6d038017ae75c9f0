/**
 * Some tests need a program of the operating system. If it is missing, they fail and say what to do: if they were skipped silently, defects that only
 * they find would pass. `DAYBOOK_TEST_WITHOUT` skips them.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

export interface Need {
  /** Its name in `DAYBOOK_TEST_WITHOUT`. */
  readonly name: 'strace' | 'mount' | 'python' | 'bash' | 'zsh' | 'fish' | 'mandoc' | 'promtool' | 'systemd' | 'chromium' | 'postgresql'
  /** A command that exits with 0 if the program can do what is needed. */
  readonly probe: readonly [program: string, ...args: ReadonlyArray<string>]
  readonly advice: string
}

export const strace: Need = {
  name: 'strace',
  probe: ['strace', '-e', 'inject=fsync:error=EIO', 'true'],
  advice: 'install it (Debian, Ubuntu: apt-get install strace) and allow ptrace (docker run --cap-add SYS_PTRACE)',
}
export const mount: Need = {
  name: 'mount',
  probe: ['unshare', '-rm', 'true'],
  advice: 'allow user namespaces, or mounts (docker run --cap-add SYS_ADMIN)',
}

export const python: Need = {
  name: 'python',
  probe: ['python3', '-c', 'import hmac'],
  advice: 'install it (Debian, Ubuntu: apt-get install python3)',
}

/** Debian's Chromium. The headless one starts twice as fast. */
const chromiumPrograms = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium']
/** `DAYBOOK_CHROMIUM` names another program. */
export const chromiumProgram = process.env['DAYBOOK_CHROMIUM'] ?? chromiumPrograms.find((file) => existsSync(file)) ?? (chromiumPrograms[0] as string)
export const chromium: Need = {
  name: 'chromium',
  probe: [chromiumProgram, '--version'],
  advice: 'install it (Debian: apt-get install chromium-headless-shell, or chromium), or say where it is (DAYBOOK_CHROMIUM=/path/to/chrome)',
}

export const promtool: Need = {
  name: 'promtool',
  probe: ['promtool', '--version'],
  advice: 'install it (Debian, Ubuntu: apt-get install prometheus)',
}

export const zsh: Need = { name: 'zsh', probe: ['zsh', '-f', '-c', 'autoload -Uz compinit'], advice: 'install it (Debian, Ubuntu: apt-get install zsh)' }
export const fish: Need = { name: 'fish', probe: ['fish', '--version'], advice: 'install it (Debian, Ubuntu: apt-get install fish)' }
export const mandoc: Need = { name: 'mandoc', probe: ['sh', '-c', 'command -v mandoc'], advice: 'install it (Debian, Ubuntu: apt-get install mandoc)' }
export const systemd: Need = {
  name: 'systemd',
  probe: ['systemd-analyze', '--version'],
  advice: 'install it (Debian, Ubuntu: apt-get install systemd)',
}

/** Debian has the programs of its newest version there, and not on the path. */
const debianPostgres = '/usr/lib/postgresql'
const [newestPostgres] = existsSync(debianPostgres) ? readdirSync(debianPostgres).sort((a, b) => Number(b) - Number(a)) : []
/** The folder of `postgres` and `initdb`; empty: wherever the path finds them. `DAYBOOK_POSTGRES` names another one. */
export const postgresPrograms = process.env['DAYBOOK_POSTGRES'] ?? (newestPostgres === undefined ? '' : join(debianPostgres, newestPostgres, 'bin'))
export const postgresql: Need = {
  name: 'postgresql',
  probe: [join(postgresPrograms, 'initdb'), '--version'],
  advice: 'install it (Debian, Ubuntu: apt-get install postgresql), or say where its programs are (DAYBOOK_POSTGRES=/path/to/bin)',
}

/** Whether to skip these tests. Throws if the program is missing and not waived. */
export const goesWithout = ({ name, probe, advice }: Need, environment: Readonly<Record<string, string | undefined>> = process.env): boolean => {
  const [program, ...args] = probe
  if (spawnSync(program, args).status === 0) return false
  if ((environment['DAYBOOK_TEST_WITHOUT'] ?? '').split(',').includes(name)) {
    console.warn(`Tests that need ${name} are left out, as DAYBOOK_TEST_WITHOUT says.`)
    return true
  }
  throw new Error(`these tests need ${name}: ${advice}. To go without them: DAYBOOK_TEST_WITHOUT=${name}`)
}
