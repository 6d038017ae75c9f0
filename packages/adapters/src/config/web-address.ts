/** Addresses to which the server sends requests. */

/**
 * Why nothing can be sent to this address; `undefined` if it can be. Node's `fetch` takes no user and password, and what it says of them would show
 * them in the log. So the reason does not repeat the address.
 */
export const whyNoWebAddress = (text: string): string | undefined => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) return 'must be an address such as https://example.org/daybook'
  return url.username === '' && url.password === '' ? undefined : 'must have no user and password'
}
