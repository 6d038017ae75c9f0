/** The groups of routes in the OpenAPI document, in its order. */
export const tags = {
  tasks: 'What is to be done: enqueue it, look at it, change it, cancel it, wait for its result.',
  work: 'What agents do: claim tasks, keep their leases, and report how the work ended.',
  agents: 'Who works: registered agents, and those that hold tasks.',
  'dead letters': 'Tasks that failed too often, and the decisions of people about them.',
  approvals: 'What waits for a guardian: tasks about other tickets, halted chains of fixes.',
  breakers: 'Circuit breakers: a type of task that keeps failing is stopped.',
  limits: 'How many tasks run at once, and how often they start: by concurrency key, type or tenant.',
  batches: 'Tasks that are counted together, and a task that is enqueued when all of them are finished.',
  schedules: 'Tasks that are enqueued at given times.',
  queues: 'The queues of this server, and how much is in them.',
  settings: 'The settings of a queue, and its pause.',
  capacity: 'The capacity of a queue. The names of these endpoints and their members are given by the requirements (TQM §11).',
  log: 'What happened: events, past states, differences, and the proof that nobody altered the log.',
  reports: 'Figures of any period, from the read models.',
  alerts: 'What needs people.',
  tokens: 'Who may use this server, and for what.',
  server: 'Probes, metrics, this document, and the WebSocket.',
} as const

export type Tag = keyof typeof tags
