/** The tasks of the demo: a small software agency whose mail cannot be sent. No browser needed. */

export interface DemoTask {
  readonly id: string
  readonly type: string
  readonly priority: number
  readonly tenant: string
  readonly description: string
  readonly payload: object
  readonly dependencies?: ReadonlyArray<string>
  readonly availableAt?: string
  readonly deadlineAt?: string
  readonly ticketId?: string
  readonly phase?: string
  readonly requires?: { readonly skills: ReadonlyArray<string> }
  readonly deduplicate: 'off'
}

const tenants = ['acme', 'globex', 'initech'] as const
const features = ['login', 'invoices', 'search', 'exports', 'billing', 'profile', 'upload', 'reports']
const receipts = 9

/** `run`: distinguishes the ids of one run from those of another. `now`: milliseconds since 1970. */
export const demoTasks = (run: string, now: number): ReadonlyArray<DemoTask> => {
  const id = (name: string): string => `${name}-${run}`
  const inMinutes = (minutes: number): string => new Date(now + minutes * 60_000).toISOString()
  const tenantOf = (index: number): string => tenants[index % tenants.length] as string
  const ofFeature = features.flatMap((feature, i): ReadonlyArray<DemoTask> => {
    const shared = { tenant: tenantOf(i), ticketId: `T-${100 + i}`, deduplicate: 'off' as const }
    return [
      { ...shared, id: id(`build-${feature}`), type: 'eng-backend', phase: 'IMPLEMENTATION', priority: i === 0 ? 10 : 8 - (i % 4), description: `Build ${feature}`, payload: { feature, repository: 'shop', branch: `feature/${feature}` }, deadlineAt: inMinutes(20 + 15 * i) },
      { ...shared, id: id(`test-${feature}`), type: 'eng-test', phase: 'TESTING', priority: 6, description: `Test ${feature}`, payload: { feature, browsers: ['chromium', 'firefox'] }, dependencies: [id(`build-${feature}`)] },
      { ...shared, id: id(`document-${feature}`), type: 'docs-page', priority: 3, description: `Describe ${feature}`, payload: { feature, words: 400 + 50 * i }, dependencies: [id(`build-${feature}`)] },
    ]
  })
  const release: DemoTask = {
    id: id('release'), type: 'ops-release', priority: 9, tenant: 'acme', description: 'Release what is tested', payload: { version: '2.4.0' }, dependencies: features.slice(0, 4).map((feature) => id(`test-${feature}`)), requires: { skills: ['kubernetes'] }, deduplicate: 'off',
  }
  const mails = Array.from({ length: receipts }, (_, i): DemoTask => ({ id: id(`receipt-${i + 1}`), type: 'mail-receipt', priority: 7, tenant: tenantOf(i), description: `Receipt ${4711 + i}`, payload: { to: `customer-${i + 1}@example.org`, invoice: 4711 + i, total: 19.5 + i }, deduplicate: 'off' }))
  const nightly: ReadonlyArray<DemoTask> = ['backup', 'clean-up'].map((name, i) => ({ id: id(name), type: 'ops-nightly', priority: 4, tenant: 'initech', description: `Nightly ${name}`, payload: { keepDays: 30 }, availableAt: inMinutes(90 + 30 * i), deduplicate: 'off' }))
  return [...ofFeature, release, ...mails, ...nightly]
}

export interface DemoAgent {
  readonly agentId: string
  readonly types: ReadonlyArray<string>
  readonly skills: ReadonlyArray<string>
  readonly maxTasks: number
}

export const demoAgents: ReadonlyArray<DemoAgent> = [
  { agentId: 'ada', types: ['eng-*'], skills: ['typescript'], maxTasks: 3 },
  { agentId: 'grace', types: ['eng-*', 'docs-*'], skills: ['typescript', 'sql'], maxTasks: 3 },
  { agentId: 'linus', types: ['docs-*'], skills: [], maxTasks: 2 },
  { agentId: 'postman', types: ['mail-*'], skills: ['smtp'], maxTasks: 1 },
]
