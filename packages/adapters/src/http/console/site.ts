/** The console's files, which are read once: a few hundred kilobytes. */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'

export interface SiteFile {
  /** Media type. */
  readonly type: string
  readonly etag: string
  readonly plain: Buffer
  /** Compressed when the console was built. */
  readonly gzip?: Buffer
  readonly brotli?: Buffer
}

export interface ConsoleSite {
  readonly page: SiteFile
  /** By file name, which contains a hash of the content. */
  readonly assets: ReadonlyMap<string, SiteFile>
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/**
 * Reads the built console. Default: that of the package `@daybook/console`.
 *
 * @throws Error if it does not exist.
 */
export const readConsole = (folder = builtConsole()): ConsoleSite => {
  const page = join(folder, 'index.html')
  if (!existsSync(page)) throw new Error(`the console is not built: ${page} is missing. Run \`npm run build\`, or serve without it: --console off`)
  const assets = join(folder, 'assets')
  const names = readdirSync(assets).filter((name) => types[extname(name)] !== undefined)
  return { page: readSiteFile(page), assets: new Map(names.map((name) => [name, readSiteFile(join(assets, name))])) }
}

const builtConsole = (): string => join(dirname(createRequire(import.meta.url).resolve('@daybook/console/package.json')), 'dist', 'site')

const readSiteFile = (file: string): SiteFile => {
  const plain = readFileSync(file)
  const [gzip, brotli] = [`${file}.gz`, `${file}.br`].map((each) => (existsSync(each) ? readFileSync(each) : undefined))
  return {
    type: types[extname(file)] as string,
    etag: `"${createHash('sha256').update(plain).digest('base64url').slice(0, 22)}"`,
    plain,
    ...(gzip === undefined ? {} : { gzip }),
    ...(brotli === undefined ? {} : { brotli }),
  }
}
