/** The examples in TypeScript as a reader has them: their types are right under the strict options of a new project, and the methods of the client that a page names are there. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@daybook/client'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { root } from '../cli/program.js'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const under = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.md')).map((name) => `${folder}/${name}`)
const packages = ['adapters', 'client', 'testing'].map((name) => `packages/${name}/README.md`)
const documents = ['README.md', ...packages, ...under('docs').filter((name) => !name.startsWith('docs/adr/'))]

interface Example {
  /** Page and line. */
  readonly at: string
  readonly code: string
}

const examplesIn = (document: string, text: string): ReadonlyArray<Example> =>
  [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)].map(({ 1: code = '', index }) => ({ at: `${document}:${text.slice(0, index).split('\n').length}`, code }))

/** What the compiler says, with the strict options that `tsc --init` writes, all examples in one program. They stand in this folder, so that imports are resolved as in a service of the workspace. */
const typeErrors = (examples: ReadonlyArray<Example>): ReadonlyArray<string> => {
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, target: ts.ScriptTarget.ES2022, lib: ['lib.es2023.d.ts'],
    strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true, skipLibCheck: true, types: ['node'],
  }
  const byFile = new Map(examples.map((example, index) => [join(root, `test/docs/example-${index}.mts`), example]))
  const host = ts.createCompilerHost(options)
  const { fileExists, readFile, getSourceFile } = host
  host.getCurrentDirectory = () => join(root, 'test/docs')
  host.fileExists = (file) => byFile.has(file) || fileExists(file)
  host.readFile = (file) => byFile.get(file)?.code ?? readFile(file)
  host.getSourceFile = (file, ...rest) => {
    const code = byFile.get(file)?.code
    return code === undefined ? getSourceFile(file, ...rest) : ts.createSourceFile(file, `${code}\nexport {}`, ts.ScriptTarget.ES2022)
  }
  return ts.getPreEmitDiagnostics(ts.createProgram([...byFile.keys()], options, host)).map(({ file, start = 0, messageText }) => {
    const line = file?.text.slice(0, start).split('\n').length
    return `${byFile.get(file?.fileName ?? '')?.at ?? file?.fileName ?? ''}, line ${line ?? 0}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`
  })
}

test('every example in TypeScript type-checks under the strict options of tsc --init', () => {
  const examples = documents.flatMap((document) => examplesIn(document, read(document)))
  expect(examples.length).toBeGreaterThan(20)
  expect(typeErrors(examples)).toEqual([])
}, 600_000)

test('teeth: a payload without a type, and a member that an answer does not have, are noticed', () => {
  const client = `import { createClient } from '@daybook/client'\nconst client = createClient({ url: 'http://127.0.0.1:7878' })\n`
  const page = `# A page\n\n\`\`\`ts\n${client}console.log((await client.task('a')).nosuch)\n\`\`\`\n\n\`\`\`ts\nconst send = async (to) => to\n\`\`\`\n`
  const found = typeErrors(examplesIn('page.md', page))
  expect(found).toEqual([expect.stringMatching(/^page\.md:3, line 3: .*'nosuch' does not exist/), expect.stringMatching(/^page\.md:9, line 1: .*'to' implicitly has an 'any' type/)])
}, 600_000)

/** `client.x.y` in code, in a block or in a line. */
const callsIn = (text: string): ReadonlyArray<string> => {
  const code = [...text.matchAll(/```(?:ts|js)\n([\s\S]*?)```|`([^`\n]+)`/g)].map(([, block, span]) => block ?? span ?? '')
  return [...new Set(code.flatMap((each) => [...each.matchAll(/\bclient\.(\w+(?:\.\w+)?)/g)].map(([, path = '']) => path)))]
}

const missing = (paths: ReadonlyArray<string>): ReadonlyArray<string> => {
  const client = createClient({ url: 'http://127.0.0.1:9' })
  const has = (path: string): boolean => {
    let at: unknown = client
    for (const name of path.split('.')) {
      // What stands after a call is a member of its answer.
      if (typeof at === 'function') return true
      if (typeof at !== 'object' || at === null || !(name in at)) return false
      at = at[name as keyof typeof at]
    }
    return true
  }
  return paths.filter((path) => !has(path))
}

/** A client in Python, and what `openEmbedded` has beside the methods of a client. */
const elsewhere: ReadonlySet<string> = new Set(['docs/python.md create_batch', 'docs/embedded.md daybook'])

test('every method of the client that a page names is there', () => {
  expect(documents.flatMap((document) => missing(callsIn(read(document)).filter((path) => !elsewhere.has(`${document} ${path}`))).map((path) => `${document}: client.${path}`))).toEqual([])
})

test('teeth: a method that is not there is noticed, in a block and in a line', () => {
  const text = '`client.schedules.set`, `client.pause`, `await client.enqueue()`\n```ts\nawait client.limits.set("a")\nclient.nosuch()\n```\n'
  expect(missing(callsIn(text))).toEqual(['schedules.set', 'nosuch'])
})
