/** The point of this file: what operators copy is accepted by others' tools, and fits this server. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { validate } from 'dockerfile-utils'
import { afterAll, describe, expect, test } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { ended, root } from '../cli/program.js'
import { goesWithout, systemd } from '../support/needs.js'

const read = (file: string): string => readFileSync(join(root, file), 'utf8')
const dir = mkdtempSync(join(tmpdir(), 'daybook-deployment-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** A server on a free port of an address, over TLS if it has `DAYBOOK_TLS_CERT`; and the variables that tell others of it. */
const served = async (listener: RequestListener, { tls = false, host = '127.0.0.1' }): Promise<{ readonly env: NodeJS.ProcessEnv; readonly end: () => Promise<unknown> }> => {
  const pem = (name: string): string => read(`test/support/tls/${name}`)
  const server: Server = tls ? createTlsServer({ cert: pem('first.pem'), key: pem('first.key') }, listener) : createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, host, resolve))
  const env = { DAYBOOK_PORT: String((server.address() as AddressInfo).port), DAYBOOK_HOST: host, ...(tls ? { DAYBOOK_TLS_CERT: 'first.pem' } : {}) }
  const end = (): Promise<unknown> => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  return { env, end }
}

describe('Dockerfile', () => {
  const text = read('Dockerfile')
  const complaintsOf = (dockerfile: string) => validate(dockerfile).map(({ message }) => message)

  test('a linter finds nothing, and would find a mistake (teeth)', () => {
    expect(complaintsOf(text)).toEqual([])
    expect(complaintsOf(text.replace('USER node', 'USR node'))).not.toEqual([])
  })

  test('the last stage has no build tools, another user than root, and the version of Node that is supported', () => {
    const last = text.slice(text.lastIndexOf('\nFROM '))
    expect(last).toMatch(/^\nFROM node:20\.\d+\.\d+-bookworm-slim\n/)
    expect(last).toMatch(/\nUSER node\n/)
    expect(last).not.toMatch(/npm|apt-get/)
  })

  test.each([false, true])('the command of its health check ends with 0 only if the server is healthy (TLS: %s)', async (tls) => {
    const [, program = ''] = /CMD \["node", "-e", "(.*)"\]/.exec(text) ?? []
    const check = async (status: number): Promise<number | null> => {
      const { env, end } = await served((request, response) => response.writeHead(request.url === '/healthz' ? status : 404).end(), { tls })
      const { code } = await ended(spawn(process.execPath, ['-e', program], { env, stdio: 'pipe' }))
      await end()
      return code
    }
    expect([await check(200), await check(503)]).toEqual([0, 1])
  })
})

describe('compose files', () => {
  interface Service { readonly volumes?: ReadonlyArray<string>; readonly depends_on?: object; readonly build?: { readonly context: string }; readonly read_only?: boolean }
  const file = (name: string) => parse(read(name), { merge: true }) as { readonly services: Readonly<Record<string, Service>>; readonly volumes: object }

  test.each([['ops/compose/sqlite.yaml', [] as ReadonlyArray<string>], ['ops/compose/eventstoredb.yaml', ['compose.yaml']]])('%s names only volumes and services that there are', (name, others) => {
    const { services, volumes } = file(name)
    const known = [name, ...others].flatMap((each) => Object.keys(file(each).services))
    for (const service of Object.values(services)) {
      expect(service.read_only).toBe(true)
      for (const volume of service.volumes ?? []) expect(Object.keys(volumes)).toContain(volume.split(':')[0])
      for (const dependency of Object.keys(service.depends_on ?? {})) expect(known).toContain(dependency)
    }
  })
})

describe('systemd unit', () => {
  const withoutSystemd = goesWithout(systemd)
  /** The unit with the programs of this machine: systemd looks whether they are there. */
  const unit = (): string => {
    const name = join(dir, 'daybook.service')
    writeFileSync(name, read('ops/systemd/daybook.service').replaceAll('/usr/bin/node', process.execPath).replaceAll('/opt/daybook/', join(root, 'ops/systemd/')))
    return name
  }

  test.skipIf(withoutSystemd)('systemd-analyze accepts it, and would find a mistake (teeth)', () => {
    const verify = (name: string) => spawnSync('systemd-analyze', ['verify', name], { encoding: 'utf8' }).stderr
    const name = unit()
    expect(verify(name)).not.toContain('daybook.service:')
    writeFileSync(name, read('ops/systemd/daybook.service').replace('PrivateTmp=yes', 'PrivateTemp=yes'))
    expect(verify(name)).toContain('PrivateTemp')
  })

  test.skipIf(withoutSystemd)('systemd-analyze accepts the drop-in with the key of a certificate, and the unit of a worker', () => {
    const verify = (name: string) => spawnSync('systemd-analyze', ['verify', name], { encoding: 'utf8' }).stderr
    const [, dropIn = ''] = /```ini\n([^]*?)```/.exec(read('docs/deployment.md')) ?? []
    expect(dropIn).toContain('LoadCredential=key:')
    writeFileSync(unit(), `${readFileSync(unit(), 'utf8')}\n${dropIn}`)
    expect(verify(join(dir, 'daybook.service'))).not.toContain('daybook.service:')
    const worker = join(dir, 'daybook-worker.service')
    writeFileSync(worker, read('ops/systemd/daybook-worker.service').replaceAll('/usr/bin/node', process.execPath))
    expect(verify(worker)).not.toContain('daybook-worker.service:')
  })

  test('the unit of a worker lets programs finish: systemd ends only the worker, and waits longer than it', () => {
    const worker = read('ops/systemd/daybook-worker.service')
    expect(worker).toMatch(/^KillMode=mixed$/m)
    const [[, grace = ''] = [], [, stop = ''] = []] = [/--grace (\d+)/.exec(worker) ?? [], /^TimeoutStopSec=(\d+)s$/m.exec(worker) ?? []]
    expect(Number(stop)).toBeGreaterThan(Number(grace) + 10)
  })

  test.skipIf(withoutSystemd)('its exposure is below 2 of 10', () => {
    const { status, stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--threshold=20', unit()], { encoding: 'utf8' })
    expect([status, /exposure level.*/.exec(stdout)?.[0]]).toEqual([0, expect.any(String)])
  })

  test.each([{}, { tls: true }, { host: '127.0.0.2' }, { host: '0.0.0.0' }])('is started when the server is ready, and not before: %o', async (how) => {
    let asked = 0
    const { env, end } = await served((request, response) => response.writeHead(request.url === '/readyz' && ++asked > 2 ? 200 : 503).end(), how)
    const { code } = await ended(spawn(process.execPath, [join(root, 'ops/systemd/wait-until-ready.mjs')], { env, stdio: 'pipe', timeout: 10_000 }))
    await end()
    expect([code, asked]).toEqual([0, 3])
  }, 30_000)

  test('it starts the server again for as long as a store is away, and not if an option is wrong', () => {
    expect(read('ops/systemd/daybook.service')).toMatch(/^StartLimitIntervalSec=0$/m)
    expect(read('ops/systemd/daybook.service')).toMatch(/^RestartPreventExitStatus=2$/m)
    const statusOf = (store: string) => spawnSync(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'serve', '--data', join(dir, 'data'), '--port', '0', '--store', store]).status
    expect([statusOf('esdb://127.0.0.1:9?tls=false'), statusOf('mysql://127.0.0.1')]).toEqual([3, 2])
  }, 60_000)

  test('the environment file names only variables that the server knows', () => {
    const known = read('packages/adapters/src/config/read-serve-options.ts')
    const names = [...read('ops/systemd/daybook.env').matchAll(/^#?(DAYBOOK_\w+)=/gm)].map(([, name = '']) => name)
    expect(names.length).toBeGreaterThan(4)
    for (const name of names) expect(known).toContain(`'${name}'`)
  })
})

test('the manifest for Kubernetes probes what there is, and leaves the server time to end', () => {
  const documents = parseAllDocuments(read('ops/kubernetes/daybook.yaml'))
  expect(documents.flatMap(({ errors }) => errors)).toEqual([])
  const { spec } = documents[1]!.toJS().spec.template
  const [container] = spec.containers
  expect([container.startupProbe, container.readinessProbe, container.livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual(['/readyz', '/readyz', '/healthz'])
  const [, seconds] = container.lifecycle.preStop.exec.command
  expect(spec.terminationGracePeriodSeconds).toBeGreaterThan(Number(seconds) + 10)
})

test('in Kubernetes the addresses of services do not get into the variables of the server', () => {
  const [service, servers] = parseAllDocuments(read('ops/kubernetes/daybook.yaml')).map((document) => document.toJS())
  const variable = `${service.metadata.name.toUpperCase()}_PORT`
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'packages/adapters/bin/daybook.js'), 'serve'], { encoding: 'utf8', env: { PATH: process.env.PATH, DAYBOOK_DATA: dir, [variable]: 'tcp://10.96.0.7:7878' } })
  expect([status, stderr]).toEqual([2, expect.stringContaining('tcp://10.96.0.7:7878')])
  expect(servers.spec.template.spec.enableServiceLinks).toBe(false)
})
