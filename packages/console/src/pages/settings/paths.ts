/** Settings by path, such as `defaults.timeout`, and back to a part of the settings. A name may contain a dot, so a path is a list. */
export type Path = ReadonlyArray<string>
export type Leaf = string | number | boolean | ReadonlyArray<unknown>
type Node = { readonly [name: string]: unknown }

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value)

/** An empty record is a leaf as well, because it has no member to represent it. */
export const leavesOf = (settings: Node, above: Path = []): ReadonlyArray<readonly [Path, Leaf | Node]> =>
  Object.entries(settings).flatMap(([name, value]): ReadonlyArray<readonly [Path, Leaf | Node]> => {
    const path = [...above, name]
    return isNode(value) && Object.keys(value).length > 0 ? leavesOf(value, path) : [[path, value as Leaf | Node]]
  })

export const at = (settings: unknown, path: Path): unknown => path.reduce<unknown>((value, name) => (isNode(value) && Object.hasOwn(value, name) ? value[name] : undefined), settings)

export const patchAt = ([first, ...rest]: Path, value: unknown): unknown => (first === undefined ? value : { [first]: patchAt(rest, value) })

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

/** Parses what the user typed as the present kind of value: `600`, `true`, `["a"]`, `key`. */
export const valueOf = (text: string, present: unknown): unknown => {
  if (typeof present === 'string') return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
