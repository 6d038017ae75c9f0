/** Words that users of other queues type, by their name here. */

type Words = Readonly<Record<string, ReadonlyArray<string>>>

/** Command lines, without `daybook`. A word may be in several entries. */
export const commandWords: Words = {
  enqueue: ['push', 'add', 'submit', 'send', 'publish', 'produce', 'insert', 'put', 'new', 'perform', 'dispatch', 'create', 'make'],
  list: ['ls', 'jobs', 'job', 'tasks', 'task', 'all', 'find', 'search'],
  'list --status in-progress': ['ps', 'running', 'active', 'in-progress'],
  'list --status scheduled': ['delayed', 'scheduled', 'retries', 'retrying'],
  'list --status pending': ['pending', 'ready', 'queued', 'waiting'],
  'list --status completed': ['completed', 'finished', 'succeeded'],
  show: ['get', 'inspect', 'describe', 'view', 'cat', 'info', 'peek'],
  explain: ['why', 'stuck'],
  history: ['logs', 'log', 'trace', 'timeline'],
  'audit log': ['logs', 'log', 'events'],
  watch: ['tail', 'follow', 'stream', 'monitor', 'subscribe'],
  depth: ['count', 'counts', 'size', 'length', 'len', 'stats', 'status', 'backlog'],
  report: ['stats', 'statistics', 'metrics', 'throughput', 'latency'],
  dlq: ['dead', 'failed', 'failures', 'errors', 'morgue', 'dead-letters', 'deadletters', 'dead-letter', 'graveyard'],
  'dlq retry': ['requeue', 'retry-all', 'kick'],
  restart: ['retry', 'rerun', 'requeue', 'redo'],
  cancel: ['delete', 'remove', 'rm', 'kill', 'abort', 'stop', 'discard', 'purge', 'clear', 'flush', 'empty'],
  bump: ['promote', 'prioritize', 'prioritise', 'boost', 'expedite'],
  amend: ['edit', 'update', 'change', 'modify', 'reschedule', 'priority'],
  claim: ['pop', 'fetch', 'reserve', 'take', 'dequeue', 'lease', 'receive', 'next', 'poll'],
  complete: ['ack', 'done', 'finish', 'success', 'succeed'],
  fail: ['nack', 'reject', 'error', 'failure'],
  release: ['unlock', 'giveback', 'return', 'unclaim'],
  heartbeat: ['touch', 'extend', 'renew', 'keepalive', 'ping'],
  work: ['worker', 'run', 'consume', 'process', 'exec'],
  agents: ['workers', 'ps', 'consumers', 'clients', 'processes'],
  serve: ['server', 'start', 'up', 'daemon', 'run'],
  pause: ['hold', 'freeze', 'suspend', 'stop'],
  resume: ['unpause', 'continue', 'unfreeze'],
  schedules: ['cron', 'crons', 'crontab', 'repeat', 'recurring', 'timers', 'periodic'],
  limits: ['throttle', 'concurrency', 'ratelimit', 'rate-limit', 'rate'],
  breakers: ['circuit', 'circuits', 'circuit-breakers'],
  'settings set': ['set', 'config', 'configure', 'option', 'options'],
  'settings get': ['config', 'configuration', 'options'],
  approvals: ['approve', 'guardian', 'escalations'],
  token: ['auth', 'login', 'user', 'users', 'keys', 'key', 'apikey', 'secret'],
  doctor: ['check', 'health', 'healthcheck', 'diagnose', 'ping', 'fsck'],
  result: ['output', 'wait', 'await', 'response'],
  callback: ['wake', 'signal', 'unpark'],
  'export': ['dump', 'backup'],
  'import': ['load', 'restore', 'migrate'],
  archive: ['compact', 'prune', 'vacuum'],
  'audit verify': ['prove', 'integrity'],
  '--help': ['help', 'man', 'usage', '?'],
  '--version': ['version'],
}

/** Commands of a group, such as those of `dlq`. */
export const verbWords: Words = {
  list: ['ls', 'all', 'show', 'get', 'index'],
  show: ['get', 'view', 'inspect', 'describe', 'info'],
  set: ['add', 'create', 'put', 'update', 'new', 'edit', 'change'],
  get: ['list', 'ls', 'show', 'read', 'all'],
  create: ['add', 'make', 'new', 'issue', 'generate'],
  remove: ['delete', 'rm', 'del', 'unset', 'clear', 'drop'],
  delete: ['remove', 'rm', 'del', 'drop', 'purge'],
  revoke: ['delete', 'remove', 'rm', 'del', 'end', 'expire', 'disable'],
  discard: ['delete', 'remove', 'rm', 'del', 'drop', 'purge', 'clear', 'ignore'],
  retry: ['requeue', 'restart', 'rerun', 'replay', 'resend'],
  patterns: ['groups', 'signatures', 'summary', 'stats'],
  terminate: ['kill', 'stop', 'remove', 'delete', 'rm'],
  register: ['add', 'create', 'new'],
  approve: ['accept', 'allow', 'ok', 'yes', 'confirm'],
  refuse: ['reject', 'deny', 'no', 'decline'],
  open: ['trip', 'break', 'stop'],
  close: ['reset', 'clear', 'untrip', 'heal'],
  log: ['logs', 'events', 'history', 'list', 'ls'],
  state: ['at', 'snapshot', 'show'],
  diff: ['compare', 'changes'],
  verify: ['check', 'validate'],
  search: ['find', 'grep', 'query'],
}

export const statusWords: Words = {
  'dead-letter': ['dead', 'failed', 'failure', 'error', 'dlq', 'dead-letters', 'discarded'],
  'in-progress': ['running', 'active', 'claimed', 'executing', 'processing', 'started', 'working', 'leased', 'inprogress', 'in_progress'],
  completed: ['done', 'succeeded', 'success', 'finished', 'ok'],
  scheduled: ['delayed', 'retrying', 'retryable', 'future'],
  pending: ['queued', 'ready', 'available', 'waiting', 'created', 'new', 'open'],
  cancelled: ['canceled', 'aborted', 'killed', 'deleted'],
  waiting: ['parked', 'sleeping'],
}

export const priorityWords: Words = {
  CRITICAL: ['urgent', 'highest', 'p0', 'emergency', 'blocker', 'immediate'],
  HIGH: ['important', 'p1', 'major'],
  MEDIUM: ['normal', 'default', 'middle', 'p2', 'standard'],
  LOW: ['minor', 'p3', 'lowest', 'background', 'trivial'],
}

export const roleWords: Words = {
  producer: ['publisher', 'enqueuer', 'sender', 'writer', 'client'],
  worker: ['consumer', 'agent', 'runner', 'subscriber'],
  operator: ['ops', 'sre', 'manager', 'maintainer'],
  guardian: ['approver', 'reviewer'],
  auditor: ['reader', 'viewer', 'readonly', 'read-only', 'read', 'guest'],
  admin: ['root', 'superuser', 'owner', 'administrator', 'all'],
}
