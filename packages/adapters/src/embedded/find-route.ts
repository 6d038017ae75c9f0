/** Finds the route of a request, as the HTTP server's router does. */
import type { Route } from '../http/routes/route.js'

export interface Found {
  readonly route: Route
  /** Decoded values of the path's `{names}`. */
  readonly params: Readonly<Record<string, string>>
}

/** `path`: without the query. `undefined` if there is no such route. */
export type FindRoute = (method: string, path: string) => Found | undefined

const name = /^\{(\w+)\}$/

export const findRouteIn = (routes: ReadonlyArray<Route>): FindRoute => {
  const byShape = new Map<string, Array<{ readonly route: Route; readonly parts: ReadonlyArray<string> }>>()
  for (const route of routes) {
    const parts = route.path.split('/')
    const shape = `${route.method} ${parts.length}`
    const known = byShape.get(shape)
    if (known === undefined) byShape.set(shape, [{ route, parts }])
    else known.push({ route, parts })
  }
  // A fixed part takes precedence over a name: `/dead-letters/patterns` is not the dead letter `patterns`.
  const names = (parts: ReadonlyArray<string>): number => parts.filter((part) => name.test(part)).length
  for (const alike of byShape.values()) alike.sort((a, b) => names(a.parts) - names(b.parts))

  return (method, path) => {
    const given = path.split('/')
    for (const { route, parts } of byShape.get(`${method} ${given.length}`) ?? []) {
      const params = paramsOf(parts, given)
      if (params !== undefined) return { route, params }
    }
    return undefined
  }
}

const paramsOf = (parts: ReadonlyArray<string>, given: ReadonlyArray<string>): Found['params'] | undefined => {
  const params: Record<string, string> = {}
  for (let i = 0; i < parts.length; i++) {
    const part = parts[i] as string
    const value = given[i] as string
    const [, named] = name.exec(part) ?? []
    if (named !== undefined && value !== '') params[named] = decodeURIComponent(value)
    else if (part !== value) return undefined
  }
  return params
}
