/** Applies a plant to its source: the result is the JavaScript that replaces the original. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import type { Plant } from './plant.js'

export type Placed =
  /** `dist` is the file that the package loads, from the root. */
  | { readonly kind: 'placed'; readonly plant: Plant; readonly dist: string; readonly code: string }
  /** The source has changed: the plant must be rewritten or removed. */
  | { readonly kind: 'stale'; readonly plant: Plant; readonly why: string }

const compilerOptions: ts.CompilerOptions = {
  module: ts.ModuleKind.ES2022,
  target: ts.ScriptTarget.ES2022,
  verbatimModuleSyntax: true,
  isolatedModules: true,
}

/** `root`: that of the repository. Reads only the sources. */
export const place = (root: string, plant: Plant): Placed => {
  const stale = (why: string): Placed => ({ kind: 'stale', plant, why })
  const { file, find, replace, killedBy } = plant
  const missing = [file, ...killedBy].find((name) => !existsSync(join(root, name)))
  if (missing !== undefined) return stale(`there is no ${missing}`)
  const source = readFileSync(join(root, file), 'utf8')
  const places = source.split(find).length - 1
  if (places !== 1) return stale(`its text occurs ${places} times in ${file}, not once`)
  const { code, problem } = transpile(source.replace(find, () => replace), file)
  if (problem !== undefined) return stale(`with it ${file} is no TypeScript: ${problem}`)
  if (code === soundCode(source, file)) return stale(`it changes nothing that is run in ${file}`)
  // What browsers run of the console is a bundle. Beside it are the modules for tests without a browser.
  const built = file.startsWith('packages/console/') ? '/dist/modules/' : '/dist/'
  return { kind: 'placed', plant, dist: file.replace('/src/', built).replace(/\.ts$/, '.js'), code }
}

let last = { source: '', code: '' }
/** The transpiled source, cached because plants of one file follow each other. */
const soundCode = (source: string, file: string): string => {
  if (last.source !== source) last = { source, code: transpile(source, file).code }
  return last.code
}

const transpile = (source: string, fileName: string): { readonly code: string; readonly problem: string | undefined } => {
  const { outputText, diagnostics = [] } = ts.transpileModule(source, { compilerOptions, fileName, reportDiagnostics: true })
  const [first] = diagnostics
  return { code: outputText, problem: first === undefined ? undefined : ts.flattenDiagnosticMessageText(first.messageText, ' ') }
}
