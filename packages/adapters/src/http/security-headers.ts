/**
 * Headers of every answer. An answer is data: a browser that shows it must run, load, frame and guess nothing. Only the pictures of reports have
 * styles, which are inline. There are no CORS headers: pages of other origins cannot read any answer.
 */
export const securityHeaders = {
  'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

/** For an answer that is written to a bare socket. */
export const securityHeaderLines = Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}\r\n`).join('')
