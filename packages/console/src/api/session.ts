/**
 * The token and what it permits. It is kept only for this tab, until the tab is closed. In an address, the token is in the fragment, which no server
 * sees, and is removed at once.
 */
import type { Me, TokenRole } from '@daybook/client'
import { computed, signal } from '@preact/signals'
import { tenantChosen } from '../address/address.js'
import { keptIn } from './kept.js'

const kept = keptIn('sessionStorage', 'daybook-token')

/** A `+` is one: no token has spaces. */
const tokenInFragment = (): string | undefined => {
  const given = new URLSearchParams(location.hash.slice(1).replaceAll('+', '%2B')).get('token')
  if (given === null) return undefined
  history.replaceState(null, '', `${location.pathname}${location.search}`)
  return given
}

const given = tokenInFragment() ?? kept.get()

/** A browser refuses to send other characters in a header. That would look like a server that does not answer. */
const canBeSent = (text: string): boolean => /^[\x20-\xff]+$/.test(text)
const isGiven = given !== undefined && canBeSent(given)
kept.set(isGiven ? given : undefined)
const notToken = 'that is no token: it has characters that no token has. Was it copied whole?'

/** `undefined` if none was given. A server with `--auth off` needs none. */
export const token = signal<string | undefined>(isGiven ? given : undefined)

/** The server's answer about this token; `undefined` before it has answered. */
export const me = signal<Me | undefined>(undefined)

/** Why the user is asked for a token: the detail of an answer 401. `undefined` while the token is valid. */
export const loggedOutBecause = signal<string | undefined>(given === undefined || isGiven ? undefined : notToken)

export const logIn = (text: string): void => {
  if (!canBeSent(text)) return logOut(notToken)
  kept.set(text)
  token.value = text
  me.value = undefined
  loggedOutBecause.value = undefined
}

/** The address stays, so that the next login shows the same page. */
export const logOut = (because: string): void => {
  kept.set(undefined)
  token.value = undefined
  me.value = undefined
  loggedOutBecause.value = because
}

const has = (...wanted: ReadonlyArray<TokenRole>): boolean => {
  const roles = me.value?.roles ?? []
  return roles.includes('admin') || wanted.some((role) => roles.includes(role))
}

/** The only tenants whose tasks the token shows; `undefined` for all. */
export const tenantsOfToken = computed(() => me.value?.tenants)

/** The tenant to ask for, if the token is for several: lists are of one at a time. */
export const tenantAsked = computed((): string | undefined => {
  const tenants = tenantsOfToken.value ?? []
  return tenants.length < 2 ? undefined : (tenants.find((each) => each === tenantChosen.value) ?? tenants[0])
})

/** What the token permits, by the roles in docs/tokens.md. Everything else is not offered. */
export const may = {
  /** What is about a whole queue, and not about the tasks of some tenants: the log, past moments, agents, reports, live messages. */
  seeAll: computed(() => tenantsOfToken.value === undefined),
  read: computed(() => has('operator', 'guardian', 'auditor')),
  operate: computed(() => has('operator')),
  guard: computed(() => has('guardian')),
  escalate: computed(() => has('operator', 'guardian')),
  enqueue: computed(() => has('producer')),
  work: computed(() => has('worker')),
  administer: computed(() => has('admin')),
} as const
