/**
 * The address is the state: everything on the page follows from it. So back, forward, reload and a pasted link all show the same page. Components
 * read the signal; `go` and plain links change it.
 */
import { computed, signal } from '@preact/signals'
import { parsePath, pathOf, type Query, queryOf, textOfQuery } from './url.js'

export interface Address {
  readonly path: string
  readonly query: Query
}

const current = (): Address => ({ path: location.pathname, query: queryOf(location.search) })

export const address = signal<Address>(current())

/** The queue of the address; `undefined` on pages about all queues. */
export const queueShown = computed(() => {
  const [first, queue] = parsePath(address.value.path)
  return first === 'q' ? queue : undefined
})

/** A past moment that the whole console shows, by the name of the API's parameter. */
export interface Moment {
  readonly at?: string
  readonly revision?: string
}

/** The moment in the address; `undefined` for the present. */
export const momentShown = computed((): Moment | undefined => {
  const { at, revision } = address.value.query
  if (at !== undefined) return { at }
  return revision === undefined ? undefined : { revision }
})

/** The tenant that somebody with a token for several has chosen. */
export const tenantChosen = computed((): string | undefined => address.value.query.tenant)

/** An address within the console that keeps the shown moment and the chosen tenant. Parts that are `undefined` are left out. */
export const linkTo = (segments: ReadonlyArray<string>, query: Partial<Query> = {}): string => `${pathOf(segments)}${textOfQuery({ tenant: tenantChosen.value, ...momentShown.value, ...query })}`

/** An address of a queue's page. */
export const queueLink = (queue: string, ...segments: ReadonlyArray<string>): string => linkTo(['q', queue, ...segments])

/** The present page with another query: `undefined` removes a parameter. */
export const withQuery = (changes: Partial<Query>): string => {
  const { path, query } = address.value
  return `${path}${textOfQuery({ ...query, ...changes })}`
}

/** Goes to an address. `replace`: without a new entry in the browser's history, for changes while the user types. `stay`: without scrolling to the top, for another state of the same page. */
export const go = (to: string, { replace = false, stay = false } = {}): void => {
  const { path } = address.value
  if (replace) history.replaceState(null, '', to)
  else history.pushState(null, '', to)
  address.value = current()
  if (replace) return
  if (!stay) scrollTo(0, 0)
  // What had the focus belongs to the page before.
  if (address.value.path !== path) focusPage()
  else keepFocus()
}

const focusPage = (): void => document.getElementById('main')?.focus({ preventScroll: true })

/** When what had the focus is gone after the next drawing, the page gets it: whoever has no pointer goes on from there. */
export const keepFocus = (): void =>
  void requestAnimationFrame(() => {
    if (document.activeElement === null || document.activeElement === document.body) focusPage()
  })

/** Follows links within the console without reloading the page. */
export const followLinks = (): void => {
  addEventListener('popstate', () => {
    address.value = current()
    keepFocus()
  })
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = (event.target as Element).closest('a')
    if (link === null || link.target !== '' || link.hasAttribute('download') || link.origin !== location.origin) return
    if (link.hash !== '' && link.pathname === location.pathname) return
    if (link.pathname.startsWith('/api/')) return
    event.preventDefault()
    go(`${link.pathname}${link.search}`)
  })
}
