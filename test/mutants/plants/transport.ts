/** HTTPS, and security headers for browsers. */
import type { Plant } from '../plant.js'

const http = 'packages/adapters/src/http/'

export const transportPlants: ReadonlyArray<Plant> = [
  {
    title: 'a renewed certificate is not used',
    file: `${http}tls.ts`,
    find: 'server.setSecureContext(found)',
    replace: '',
    killedBy: ['test/http/tls.test.ts'],
  },
  {
    title: 'a server starts with the key of another certificate',
    file: `${http}tls.ts`,
    find: '    createSecureContext(pair)\n',
    replace: '',
    killedBy: ['test/http/tls.test.ts'],
  },
  {
    title: 'answers do not tell browsers to run nothing',
    file: `${http}server.ts`,
    find: 'void reply.headers(securityHeaders)',
    replace: '',
    killedBy: ['test/http/security-headers.test.ts'],
  },
  {
    title: 'the connection of a request that is too large is closed while the client still sends',
    file: `${http}server.ts`,
    find: 'await dropRest(request.raw, context.limits.requestTimeoutMs / 4)',
    replace: 'await undefined',
    killedBy: ['test/http/bad-input.test.ts'],
    named: 'reads no answer before it has sent all',
  },
]
