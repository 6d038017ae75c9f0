/**
 * The token and what it may do. It is kept for this tab alone, until the tab is closed. In an address it is in the fragment, which no server sees, and is taken
 * out at once.
 */
import type { Me, TokenRole } from '@daybook/client'
import { computed, signal } from '@preact/signals'

const key = 'daybook-token'

const tokenInFragment = (): string | undefined => {
  const given = new URLSearchParams(location.hash.slice(1)).get('token')
  if (given === null) return undefined
  history.replaceState(null, '', `${location.pathname}${location.search}`)
  return given
}

const first = tokenInFragment()
if (first !== undefined) sessionStorage.setItem(key, first)

/** `undefined`: none was given. A server with `--auth off` needs none. */
export const token = signal<string | undefined>(sessionStorage.getItem(key) ?? undefined)

/** Who the server says that this is; `undefined` before it has answered. */
export const me = signal<Me | undefined>(undefined)

/** Why a token is asked for: that of an answer 401. `undefined` while the token is good. */
export const loggedOutBecause = signal<string | undefined>(undefined)

export const logIn = (given: string): void => {
  sessionStorage.setItem(key, given)
  token.value = given
  me.value = undefined
  loggedOutBecause.value = undefined
}

/** The address stays: after the next login it shows the same. */
export const logOut = (because: string): void => {
  sessionStorage.removeItem(key)
  token.value = undefined
  me.value = undefined
  loggedOutBecause.value = because
}

const has = (...wanted: ReadonlyArray<TokenRole>): boolean => {
  const roles = me.value?.roles ?? []
  return roles.includes('admin') || wanted.some((role) => roles.includes(role))
}

/** What the token may do, by the roles in docs/tokens.md. What it may not do is not offered. */
export const may = {
  read: computed(() => has('operator', 'guardian', 'auditor')),
  operate: computed(() => has('operator')),
  guard: computed(() => has('guardian')),
  escalate: computed(() => has('operator', 'guardian')),
  enqueue: computed(() => has('producer')),
  work: computed(() => has('worker')),
  administer: computed(() => has('admin')),
} as const
