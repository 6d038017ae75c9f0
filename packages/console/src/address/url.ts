/** Paths and queries as values. No browser needed. */
export type Query = Readonly<Record<string, string>>

/** `/q/a%2Fb/tasks` → `['q', 'a/b', 'tasks']`. A segment with an invalid encoding stays as it is. */
export const parsePath = (path: string): ReadonlyArray<string> => path.split('/').filter((segment) => segment !== '').map(decoded)

const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

export const pathOf = (segments: ReadonlyArray<string>): string => `/${segments.map(encodeURIComponent).join('/')}`

/** If a parameter is given twice, the first one counts. */
export const queryOf = (search: string): Query => {
  const query = new Map<string, string>()
  for (const [name, value] of new URLSearchParams(search)) if (!query.has(name)) query.set(name, value)
  // An assignment by name would lose `__proto__`.
  return Object.fromEntries(query)
}

/**
 * The query as text with `?`; empty without parameters. It stays readable: characters that need no encoding in a query are not encoded. Empty values are
 * left out, except an empty signature: dead letters that have none are a group, too.
 */
export const textOfQuery = (query: Partial<Query>): string => {
  const pairs = Object.entries(query).flatMap(([name, value]) => (value === undefined || (value === '' && name !== 'signature') ? [] : [`${encodeURIComponent(name)}=${readable(value)}`]))
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

const readable = (value: string): string => encodeURIComponent(value).replace(/%3A/g, ':').replace(/%2C/g, ',').replace(/%2F/g, '/').replace(/%3E/g, '>').replace(/%20/g, '+')

/** The values of a pattern's `{names}`, or `undefined`: `matchPath('/q/{queue}/tasks', '/q/a/tasks')` is `{queue: 'a'}`. */
export const matchPath = (pattern: string, path: string): Readonly<Record<string, string>> | undefined => {
  const wanted = parsePath(pattern)
  const given = parsePath(path)
  if (wanted.length !== given.length) return undefined
  const values: Record<string, string> = {}
  for (const [i, segment] of wanted.entries()) {
    const value = given[i] as string
    const [, name] = /^\{(\w+)\}$/.exec(segment) ?? []
    if (name !== undefined) values[name] = value
    else if (segment !== value) return undefined
  }
  return values
}
