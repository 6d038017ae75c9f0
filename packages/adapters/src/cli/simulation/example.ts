/** The scenario that `daybook simulate --example` prints. `examples/agency.yaml` is the same. */
export const exampleScenario = `# A day of an agency whose agents work for three customers. Try it: daybook simulate agency.yaml
#
# Lengths of time are seconds, or texts such as 90s, 15m, 1h30m. Points in time (at, from, to) count from midnight.
name: agency
seed: 1                          # the same seed gives the same day
duration: 24h                    # the default; at most 31d

# As in \`daybook settings set\`. What is not said has the queue's default.
settings:
  policy: priority               # or score
  capacity: { maxConcurrentAgents: 60 }
  assignment:
    tenants: { acme: 2, default: 1 }
  defaults: { maxRetries: 3, backoffSeconds: 60 }
  breakers:
    overrides:
      mail: { failureThreshold: 5, halfOpenAfter: 300, countOn: attempt }

# As in \`daybook limits set\`, by concurrency key, type:TYPE or tenant:TENANT.
limits:
  type:mail: { rate: { starts: 30, perSeconds: 60 } }

streams:
  - type: eng-ticket
    tenant: { acme: 5, beta: 3, gamma: 2 }              # shares of its tasks; or one name
    priority: { HIGH: 0.2, MEDIUM: 0.6, LOW: 0.2 }      # CRITICAL, HIGH, MEDIUM, LOW, or 1 to 10
    arrivals:
      # At random, so many an hour: one number, or 24 for the hours of the day.
      perHour: [80, 60, 60, 60, 60, 80, 120, 200, 380, 430, 430, 420, 380, 400, 420, 420, 380, 300, 200, 160, 140, 120, 100, 80]
    duration: { p50: 3m, p99: 20m }                     # lognormal; or exponential: MEAN; or just 3m
    failures: { probability: 0.05, permanent: 0.1 }     # one in ten failures is not tried again
    deadline: 30m                                       # from the arrival on

  - type: eng-import                                    # beta imports an archive in the morning
    tenant: beta
    priority: MEDIUM
    arrivals: { bursts: [{ at: 9h, tasks: 1200, over: 10m }] }
    duration: { exponential: 2m }

  - type: ops-incident
    tenant: { acme: 1, beta: 1, gamma: 1 }
    priority: CRITICAL
    arrivals: { perHour: 6 }
    duration: { exponential: 5m }
    deadline: 15m

  - type: mail
    tenant: { acme: 1, beta: 1, gamma: 1 }
    priority: LOW
    arrivals: { every: 30s }
    duration: 2s
    rateLimits: { probability: 0.01, retryAfter: 20s }
    deadline: 10m

outages:                         # every attempt at these types fails in this time
  - { types: [mail], from: 14h, to: 14h40m, failsAfter: 5s }

agents:
  - name: always
    count: 15
    types: ['eng-*', 'ops-*']
    crashesPerDay: 0.5           # of each, on average; its tasks go to others when their leases end
    restart: 5m
    lease: 1m                    # without a heartbeat
  - name: day
    count: 25
    types: ['eng-*', 'ops-*']
    shifts: [{ from: 8h, to: 20h }]
  - name: mailer
    count: 1
    concurrency: 4               # tasks at a time
    types: [mail]
`
