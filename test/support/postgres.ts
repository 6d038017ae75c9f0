/** A PostgreSQL server of a test's own, in a temporary folder, on a socket there. It can be killed and started again. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { inTime } from './in-time.js'
import { postgresPrograms } from './needs.js'

/** PostgreSQL refuses to run as root. Debian's package has made this user. */
const owner = (): { readonly uid?: number; readonly gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((what) => Number(execFileSync('id', [what, 'postgres'], { encoding: 'utf8' })))
  return uid === undefined || gid === undefined ? {} : { uid, gid }
}

export class Postgres {
  private server: ChildProcess | undefined
  /** The end of the server that was killed last. */
  private ended: Promise<unknown> = Promise.resolve()
  private readonly pools: Array<pg.Pool> = []

  private constructor(
    private readonly folder: string,
    private readonly user: ReturnType<typeof owner>,
  ) {}

  static async start(): Promise<Postgres> {
    const folder = mkdtempSync(join(tmpdir(), 'daybook-pg-'))
    const user = owner()
    const data = join(folder, 'data')
    mkdirSync(data)
    if (user.uid !== undefined && user.gid !== undefined) for (const each of [folder, data]) chownSync(each, user.uid, user.gid)
    execFileSync(join(postgresPrograms, 'initdb'), ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale', 'C', '--no-sync'], { ...user, cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
    const made = new Postgres(folder, user)
    await made.restart()
    return made
  }

  get url(): string {
    return `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(this.folder)}`
  }

  /** Closed with the server. */
  pool(options: pg.PoolConfig = {}): pg.Pool {
    const pool = new pg.Pool({ connectionString: this.url, ...options })
    // Of idle connections, when the server is killed.
    pool.on('error', () => undefined)
    this.pools.push(pool)
    return pool
  }

  /** Ends it as a crash does: connections break, and it recovers at the next start. */
  async kill(): Promise<void> {
    const { server } = this
    this.server = undefined
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    this.ended = once(server, 'exit')
    server.kill('SIGQUIT')
    await inTime('the end of PostgreSQL', this.ended)
  }

  /** While the killed server is still ending, its folder is locked, so this waits for it. */
  async restart(): Promise<void> {
    await this.ended
    const settings = { fsync: 'off', listen_addresses: '', unix_socket_directories: this.folder, unix_socket_permissions: '0777' }
    const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = spawn(join(postgresPrograms, 'postgres'), ['-D', join(this.folder, 'data'), ...options], { ...this.user, cwd: this.folder, stdio: ['ignore', 'ignore', 'pipe'] })
    this.server = server
    const said: Array<string> = []
    const ready = new Promise<void>((resolve, reject) => {
      createInterface({ input: server.stderr }).on('line', (line) => {
        said.push(line)
        if (line.includes('ready to accept connections')) resolve()
      })
      server.once('exit', () => reject(new Error(`PostgreSQL has ended:\n${said.join('\n')}`)))
    })
    await inTime('the start of PostgreSQL', ready)
  }

  async stop(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.end().catch(() => undefined)))
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
