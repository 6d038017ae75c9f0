/**
 * Functions with one statement for each of some names, compiled when the program starts. They run for every task. A loop over the names would cost
 * several times as much: it looks each name up, whereas the engine remembers the place of `task.ticketId`.
 */

/**
 * A function of these parameters that runs `statement` for each name, then `end`. The names must be identifiers. `tools`: further names that
 * statements may use.
 *
 * @example
 * unrolled(['a', 'b'], 'from', (name) => `if (from.${name} !== undefined) return true`, 'return false') // => (from) => { if (from.a !== undefined)
 * return true; if (from.b !== undefined) return true; return false }
 */
export const unrolled = <F>(
  names: ReadonlyArray<string>,
  parameters: string,
  statement: (name: string) => string,
  end = '',
  tools: Readonly<Record<string, unknown>> = {},
): F => {
  const body = [...names.map(statement), end].join('\n')
  return (new Function(...Object.keys(tools), `return (${parameters}) => {\n${body}\n}`) as (...given: ReadonlyArray<unknown>) => F)(...Object.values(tools))
}

/** A function that tells whether any of these members is given. */
export const hasAnyOf = <K extends string>(names: ReadonlyArray<K>): ((from: { readonly [N in K]?: unknown }) => boolean) =>
  unrolled(names, 'from', (name) => `if (from.${name} !== undefined) return true`, 'return false')

/** A function that copies those of these members that are given. */
export const copierOf = <K extends string>(
  names: ReadonlyArray<K>,
): (<T extends { readonly [N in K]?: unknown }>(from: T, into: { -readonly [N in K]?: T[N] }) => void) =>
  unrolled(names, 'from, into', (name) => `if (from.${name} !== undefined) into.${name} = from.${name}`)
