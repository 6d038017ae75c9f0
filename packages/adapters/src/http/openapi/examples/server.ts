import { enqueued, type Examples, type Step } from './example.js'

const making = (name: string): Step => ({ method: 'POST', path: '/api/tokens', body: { name, roles: ['worker'], queues: ['builds'] }, keep: { token: 'id' } })

export const serverExamples: Examples = {
  'GET /api/tokens': [{ title: 'The admin and a worker', path: '/api/tokens', before: [making('build-farm')], alone: true }],
  'POST /api/tokens': [
    {
      title: 'For one queue, with a rate',
      path: '/api/tokens',
      body: { name: 'ci', roles: ['producer', 'auditor'], queues: ['builds'], rate: { perSecond: 50, burst: 200 }, expiresAt: '2100-01-01T00:00:00.000Z' },
      alone: true,
    },
  ],
  'DELETE /api/tokens/{id}': [{ title: 'The machines were sold', path: '/api/tokens/{{token}}?reason=the%20machines%20were%20sold', before: [making('old-farm')], alone: true }],
  'GET /api/me': [{ title: 'The admin', path: '/api/me' }],
  'GET /healthz': [{ title: 'It runs', path: '/healthz' }],
  'GET /readyz': [{ title: 'It takes commands', path: '/readyz', before: [enqueued()], alone: true }],
  'GET /metrics': [{ title: 'The first lines', path: '/metrics' }],
  'GET /api/openapi.json': [{ title: 'The first lines', path: '/api/openapi.json' }],
}
