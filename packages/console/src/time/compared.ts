/** The two moments that the page of changes compares, and how an address names a moment. */
import { computed } from '@preact/signals'
import { address, go, linkTo, type Moment, momentShown, withQuery } from '../address/address.js'
import { matchPath } from '../address/url.js'

export const changesPath = '/q/{queue}/changes'

/** Each is a revision or a time; without `to` it is the present. `undefined` on other pages. */
export const comparedMoments = computed((): { readonly from: string | undefined; readonly to: string | undefined } | undefined => {
  const { path, query } = address.value
  return matchPath(changesPath, path) === undefined ? undefined : { from: query.from, to: query.to }
})

export const isRevision = (text: string): boolean => /^\d{1,16}$/.test(text)

/** As parameters of a question, or of an address. `undefined`: the present. */
export const momentOf = (text: string | undefined): Moment | undefined => (text === undefined ? undefined : isRevision(text) ? { revision: text } : { at: text })
export const textOfMoment = (moment: Moment | undefined): string | undefined => moment?.at ?? moment?.revision

/** What changed between two moments. Default: from the moment that is shown, to now. */
export const changesLink = (queue: string, from: string | undefined, to?: string): string => linkTo(['q', queue, 'changes'], { at: undefined, revision: undefined, from, to })

/** The same page at another moment. The way back leads to the present, not over every moment that one looked at. */
export const showMoment = (moment: Moment | undefined): void =>
  go(withQuery({ at: undefined, revision: undefined, ...moment }), { replace: momentShown.peek() !== undefined && moment !== undefined, stay: true })

/** Compares other moments; the earlier one is the first. */
export const compareMoments = (from: string, to: string | undefined): void => go(withQuery({ from, to, at: undefined, revision: undefined }), { replace: true })
