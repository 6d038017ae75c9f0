/**
 * The folders in the `src` of a package, and the files beside them, are its parts. Parts use one another in one direction
 * ([ADR 80](../../docs/adr/0080-folders-in-one-direction.md)). Types do not count: the record of a task has fields whose types belong to indexes.
 */
import { dirname, normalize } from 'node:path/posix'
import ts from 'typescript'

/** Source texts by path below `src`. */
export type Sources = ReadonlyMap<string, string>

/** The relative paths from which a module takes values, including those that it imports later. */
const valuesFrom = (path: string, text: string): ReadonlyArray<string> => {
  const found: Array<string> = []
  const note = (specifier: ts.Node | undefined): void => {
    if (specifier !== undefined && ts.isStringLiteral(specifier) && specifier.text.startsWith('.')) found.push(specifier.text)
  }
  const isTypes = (clause: ts.ImportClause): boolean =>
    clause.isTypeOnly || (clause.name === undefined && clause.namedBindings !== undefined && ts.isNamedImports(clause.namedBindings) && clause.namedBindings.elements.every(({ isTypeOnly }) => isTypeOnly))
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) && !(node.importClause !== undefined && isTypes(node.importClause))) note(node.moduleSpecifier)
    if (ts.isExportDeclaration(node) && !node.isTypeOnly && !(node.exportClause !== undefined && ts.isNamedExports(node.exportClause) && node.exportClause.elements.every(({ isTypeOnly }) => isTypeOnly))) note(node.moduleSpecifier)
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) note(node.arguments[0])
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest))
  return found
}

/** Which parts each part uses, with one import as an example for each. */
const usesOf = (sources: Sources, partOf: (path: string) => string): ReadonlyMap<string, ReadonlyMap<string, string>> => {
  const uses = new Map<string, Map<string, string>>()
  for (const [path, text] of sources) {
    for (const specifier of valuesFrom(path, text)) {
      const target = normalize(`${dirname(path)}/${specifier}`).replace(/\.js$/, '')
      const file = [`${target}.ts`, `${target}.tsx`].find((each) => sources.has(each))
      if (file === undefined || partOf(file) === partOf(path)) continue
      const of = uses.get(partOf(path)) ?? new Map<string, string>()
      uses.set(partOf(path), of.set(partOf(file), `${path} uses ${file}`))
    }
  }
  return uses
}

/** The circles: each is a list of imports that leads from a part back to it; one for each part that is in any. `together`: parts that count as one. */
export const circlesOf = (sources: Sources, together: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> => {
  const partOf = (path: string): string => {
    const part = path.split('/')[0] as string
    return together.includes(part) ? together.join(' + ') : part
  }
  const uses = usesOf(sources, partOf)
  const back = (part: string): ReadonlyArray<string> | undefined => {
    const way = new Map<string, ReadonlyArray<string>>([[part, []]])
    for (const [at, imports] of way) {
      for (const [to, example] of uses.get(at) ?? []) {
        if (to === part) return [...imports, example]
        if (!way.has(to)) way.set(to, [...imports, example])
      }
    }
    return undefined
  }
  return [...uses.keys()].map(back).filter((circle) => circle !== undefined)
}
