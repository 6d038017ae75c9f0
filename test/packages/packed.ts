/**
 * Packs every package, and installs the tarballs in an empty folder: the point is that nothing but what a tarball has, and what its `package.json` declares,
 * is there. Other people's packages are linked from this repository's own installation, so no registry is needed. With `DAYBOOK_PACKAGES_FROM=registry`, npm
 * installs everything, as a user would.
 */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { cp, mkdir, readdir, readFile, realpath, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '')
const run = promisify(execFile)

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly engines?: { readonly node?: string }
  readonly exports: Readonly<Record<string, unknown>>
  readonly man?: ReadonlyArray<string>
}

/** The tarballs by package name. */
export type Tarballs = ReadonlyMap<string, string>

export const manifestOf = async (folder: string): Promise<Manifest> => JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest

/** Packs all packages into the folder, in the way that they are published. */
export const packAll = async (into: string): Promise<Tarballs> => {
  await mkdir(into, { recursive: true })
  await run(process.execPath, [join(root, 'scripts/run.mjs'), 'pack', into], { cwd: root, maxBuffer: 2 ** 26 })
  const names = await Promise.all((await readdir(join(root, 'packages'))).map((name) => manifestOf(join(root, 'packages', name))))
  return new Map(names.map(({ name, version }) => [name, join(into, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`)]))
}

export const filesOf = async (tarball: string): Promise<ReadonlyArray<string>> =>
  (await run('tar', ['-tzf', tarball], { maxBuffer: 2 ** 26 })).stdout.split('\n').filter((line) => line !== '').map((line) => line.replace(/^package\//, ''))

/** A file of a tarball. */
export const textIn = async (tarball: string, file: string): Promise<string> => (await run('tar', ['-xzOf', tarball, `package/${file}`])).stdout

export const packedManifest = async (tarball: string): Promise<Manifest> => JSON.parse(await textIn(tarball, 'package.json')) as Manifest

/** Installs these packages, and those of ours that they declare, in an empty folder. */
export const install = (folder: string, names: ReadonlyArray<string>, tarballs: Tarballs): Promise<void> =>
  (process.env.DAYBOOK_PACKAGES_FROM === 'registry' ? installByNpm : installLinked)(folder, names, tarballs)

const emptyFolder = async (folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{ "name": "a-service", "private": true, "type": "module" }\n')
}

export const installLinked = async (folder: string, names: ReadonlyArray<string>, tarballs: Tarballs): Promise<void> => {
  await emptyFolder(folder)
  const installed = new Set<string>()
  for (let rest = [...names]; rest.length > 0; ) {
    const name = rest.pop() as string
    if (installed.has(name)) continue
    installed.add(name)
    rest = [...rest, ...(await unpack(folder, name, tarballs))]
  }
}

/** Returns those of our packages that it declares. All others that it declares are linked beside it, and nothing else. */
const unpack = async (folder: string, name: string, tarballs: Tarballs): Promise<ReadonlyArray<string>> => {
  const tarball = tarballs.get(name)
  if (tarball === undefined) throw new Error(`${name} is declared as a dependency, and is not packed`)
  const to = join(folder, 'node_modules', name)
  await mkdir(to, { recursive: true })
  await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', to])
  const { dependencies = {} } = await manifestOf(to)
  const ours: Array<string> = []
  for (const [dependency, version] of Object.entries(dependencies)) {
    if (tarballs.has(dependency)) ours.push(dependency)
    else await link(join(root, 'packages', name.replace('@daybook/', ''), 'node_modules', dependency), join(to, 'node_modules', dependency), version)
  }
  return ours
}

const link = async (from: string, to: string, version: string): Promise<void> => {
  const there = await realpath(from)
  const found = (await manifestOf(there)).version
  if (found !== version) throw new Error(`${there} is ${found}, and ${version} is declared`)
  await mkdir(dirname(to), { recursive: true })
  await symlink(there, to)
}

/** Without install scripts: SQLite's binding is that of this repository, since compiling it takes a minute. */
const installByNpm = async (folder: string, names: ReadonlyArray<string>, tarballs: Tarballs): Promise<void> => {
  await emptyFolder(folder)
  const needed = new Set(names)
  // A set that grows while it is walked is walked to its end.
  for (const name of needed) {
    const { dependencies = {} } = await manifestOf(join(root, 'packages', name.replace('@daybook/', '')))
    for (const dependency of Object.keys(dependencies)) if (tarballs.has(dependency)) needed.add(dependency)
  }
  const files = [...needed].map((name) => tarballs.get(name) as string)
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error', ...files], { cwd: folder, maxBuffer: 2 ** 26 })
  const sqlite = join(folder, 'node_modules/better-sqlite3')
  if (existsSync(sqlite)) await cp(join(root, 'packages/adapters/node_modules/better-sqlite3/build'), join(sqlite, 'build'), { recursive: true, dereference: true })
}

/** All packages that come with this one, however indirectly. */
export const broughtBy = async (folder: string, name: string): Promise<ReadonlyArray<Manifest>> => {
  const found = new Map<string, Manifest>()
  const walk = async (at: string): Promise<void> => {
    const { dependencies = {} } = await manifestOf(at)
    for (const dependency of Object.keys(dependencies)) {
      const there = await findUp(at, dependency)
      if (found.has(there)) continue
      found.set(there, await manifestOf(there))
      await walk(there)
    }
  }
  await walk(await realpath(join(folder, 'node_modules', name)))
  return [...found.values()]
}

/** Their names. */
export const treeOf = async (folder: string, name: string): Promise<ReadonlySet<string>> => new Set((await broughtBy(folder, name)).map((each) => each.name))

/** Those that a version of Node is too old for. */
export const refusing = (version: string, packages: ReadonlyArray<Pick<Manifest, 'name' | 'version' | 'engines'>>): ReadonlyArray<string> => {
  const fastify = createRequire(join(root, 'packages/adapters/package.json')).resolve('fastify')
  const { satisfies } = createRequire(fastify)('semver') as { readonly satisfies: (version: string, range: string) => boolean }
  return packages.filter(({ engines }) => !satisfies(version, engines?.node ?? '*')).map((each) => `${each.name}@${each.version}`)
}

/** As Node looks for it. */
const findUp = async (from: string, name: string): Promise<string> => {
  for (let at = from; at !== dirname(at); at = dirname(at)) {
    const found = join(at, 'node_modules', name)
    if (existsSync(found)) return realpath(found)
  }
  throw new Error(`${name} is not installed for ${from}`)
}
