/** The names of all messages of the WebSocket. */
export const messageEvents = [
  'task_created',
  'task_queued',
  'task_completed',
  'task_priority_bumped',
  'agent_created',
  'agent_status_changed',
  'lease_lost',
  'breaker_changed',
  'slowdown',
  'alert_raised',
  'alert_cleared',
] as const

export type MessageEvent = (typeof messageEvents)[number]
