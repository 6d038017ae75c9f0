/**
 * A script that tests start again and again, bundled with all that it imports. Like the program itself (ADR 73), it then starts in a third of the time.
 */
import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { basename, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { afterAll } from 'vitest'

const adapters = fileURLToPath(new URL('../../packages/adapters', import.meta.url))

/** To be called where tests are declared. The result is the bundled file, which is made when it is asked for first. */
export const bundled = (script: URL): (() => string) => {
  let made: string | undefined
  afterAll(() => made !== undefined && rmSync(made, { recursive: true, force: true }))
  return () => join((made ??= bundle(fileURLToPath(script))), 'script.js')
}

const bundle = (script: string): string => {
  // There, packages that are not bundled are found.
  const folder = mkdtempSync(join(adapters, 'node_modules', '.test-'))
  chmodSync(folder, 0o755)
  const dist = join(adapters, 'dist')
  // Modules start threads by the names of their files, which have to lie beside them.
  const threads = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('-thread.js') && !file.startsWith(`program${sep}`))
  buildSync({
    entryPoints: { script, ...Object.fromEntries(threads.map((file) => [basename(file, '.js'), join(dist, file)])) },
    outdir: folder,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['better-sqlite3', '@eventstore/db-client', '@grpc/grpc-js', 'google-protobuf', '@opentelemetry/*', 'pino'],
    banner: { js: "import { createRequire as createRequireHere } from 'node:module'; const require = createRequireHere(import.meta.url);" },
    logLevel: 'warning',
  })
  return folder
}
