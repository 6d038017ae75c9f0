/**
 * The rooms of a package are the folders in its `src`; a file there is a room of its own. Rooms use one another in one direction
 * ([ADR 80](../../docs/adr/0080-rooms-in-one-direction.md)). Types do not count: the record of a task has fields whose types belong to indexes.
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

/** Which rooms each room uses, with one import as an example for each. */
const usesOf = (sources: Sources, roomOf: (path: string) => string): ReadonlyMap<string, ReadonlyMap<string, string>> => {
  const uses = new Map<string, Map<string, string>>()
  for (const [path, text] of sources) {
    for (const specifier of valuesFrom(path, text)) {
      const target = normalize(`${dirname(path)}/${specifier}`).replace(/\.js$/, '')
      const file = [`${target}.ts`, `${target}.tsx`].find((each) => sources.has(each))
      if (file === undefined || roomOf(file) === roomOf(path)) continue
      const of = uses.get(roomOf(path)) ?? new Map<string, string>()
      uses.set(roomOf(path), of.set(roomOf(file), `${path} uses ${file}`))
    }
  }
  return uses
}

/** The circles: each is a list of imports that leads from a room back to it; one for each room that is in any. `together`: rooms that count as one. */
export const circlesOf = (sources: Sources, together: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> => {
  const roomOf = (path: string): string => {
    const room = path.split('/')[0] as string
    return together.includes(room) ? together.join(' + ') : room
  }
  const uses = usesOf(sources, roomOf)
  const back = (room: string): ReadonlyArray<string> | undefined => {
    const way = new Map<string, ReadonlyArray<string>>([[room, []]])
    for (const [at, imports] of way) {
      for (const [to, example] of uses.get(at) ?? []) {
        if (to === room) return [...imports, example]
        if (!way.has(to)) way.set(to, [...imports, example])
      }
    }
    return undefined
  }
  return [...uses.keys()].map(back).filter((circle) => circle !== undefined)
}
