/**
 * Applies a plant to its source: the result is the JavaScript that replaces the original. Browsers run a bundle of the console's sources, so there the changed source
 * is written as well, and bundled.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { transformSync, type TransformFailure } from 'esbuild'
import type { Plant } from './plant.js'

export type Placed =
  /** `files`: what is to be replaced, by paths from the root. `bundle`: the script that has to run then, and the folder that it writes. */
  | { readonly kind: 'placed'; readonly plant: Plant; readonly files: Readonly<Record<string, string>>; readonly bundle: Bundle | undefined }
  /** The source has changed: the plant must be rewritten or removed. */
  | { readonly kind: 'stale'; readonly plant: Plant; readonly why: string }

export interface Bundle {
  readonly script: string
  readonly folder: string
}

const site = 'packages/console'
const bundle: Bundle = { script: `${site}/build.mjs`, folder: `${site}/dist/site` }

const options = {
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  logLevel: 'silent',
  tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
} as const

/** `root`: that of the repository. Reads only the sources. */
export const place = (root: string, plant: Plant): Placed => {
  const stale = (why: string): Placed => ({ kind: 'stale', plant, why })
  const { file, find, replace, killedBy } = plant
  const missing = [file, ...killedBy].find((name) => !existsSync(join(root, name)))
  if (missing !== undefined) return stale(`there is no ${missing}`)
  const source = readFileSync(join(root, file), 'utf8')
  const places = source.split(find).length - 1
  if (places !== 1) return stale(`its text occurs ${places} times in ${file}, not once`)
  const changed = source.replace(find, () => replace)
  const { code, problem } = transpile(changed, file)
  if (problem !== undefined) return stale(`with it ${file} is no TypeScript: ${problem}`)
  if (code === soundCode(source, file)) return stale(`it changes nothing that is run in ${file}`)
  if (file.startsWith(`${site}/`)) return { kind: 'placed', plant, files: { [file]: changed, [file.replace('/src/', '/dist/modules/').replace(/\.tsx?$/, '.js')]: code }, bundle }
  return { kind: 'placed', plant, files: { [file.replace('/src/', '/dist/').replace(/\.ts$/, '.js')]: code }, bundle: undefined }
}

/** The transpiled sources: most have several plants. */
const sound = new Map<string, string>()
const soundCode = (source: string, file: string): string => {
  const code = sound.get(source) ?? transpile(source, file).code
  sound.set(source, code)
  return code
}

/** Types are left out, and not checked. The bundler does that in a fraction of the compiler's time, and there are more than a thousand plants. */
const transpile = (source: string, file: string): { readonly code: string; readonly problem: string | undefined } => {
  try {
    return { code: transformSync(source, { ...options, loader: file.endsWith('x') ? 'tsx' : 'ts' }).code, problem: undefined }
  } catch (error) {
    return { code: '', problem: (error as TransformFailure).errors[0]?.text ?? String(error) }
  }
}
