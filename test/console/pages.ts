/** All pages of the console. What holds for each (laws.test.ts) is tested for those that stand here. */

export interface PageRow {
  /** Of tests and pictures. */
  readonly name: string
  /** On the seeded queue `default`. */
  readonly path: string
  /** Its first heading. */
  readonly heading: string
  /** A text that it shows of the seeded fleet: it has come, and not only its frame. */
  readonly shows: string
}

/** Of `550 mailbox unavailable <…>`, without its numbers and addresses. */
export const mailboxSignature = 'ca0744d29a2cec964ddcf93b0b8679d220487d2daf774be55f69f869b927deda'

export const pageRows: ReadonlyArray<PageRow> = [
  { name: 'now', path: '/', heading: 'Now', shows: 'only at night' },
  { name: 'queue', path: '/q/default', heading: 'default', shows: 'What keeps tasks from running' },
  { name: 'tasks', path: '/q/default/tasks', heading: 'Tasks', shows: 'eng-backend' },
  { name: 'task', path: '/q/default/tasks/announce-1', heading: 'announce-1', shows: 'release-1' },
  { name: 'dead-letters', path: '/q/default/dead-letters', heading: 'Dead letters', shows: '550 mailbox unavailable' },
  { name: 'dead-letter-group', path: `/q/default/dead-letters?type=mail-welcome&signature=${mailboxSignature}`, heading: 'Dead letters', shows: 'mail-welcome-84' },
  { name: 'breakers', path: '/q/default/breakers', heading: 'Breakers', shows: 'too many failures in a row' },
  { name: 'agents', path: '/q/default/agents', heading: 'Agents', shows: 'mailer-1' },
  { name: 'tenants', path: '/q/default/tenants', heading: 'Tenants', shows: 'globex' },
  { name: 'schedules', path: '/q/default/schedules', heading: 'Schedules', shows: 'nightly-backup' },
  { name: 'approvals', path: '/q/default/approvals', heading: 'Approvals', shows: 'the session is not ended at logout' },
  { name: 'settings', path: '/q/default/settings', heading: 'Settings', shows: 'breakers.overrides.ops-security.failureThreshold' },
  { name: 'reports', path: '/q/default/reports', heading: 'Reports', shows: 'Percentiles are within 1 %' },
  { name: 'who-did-what', path: '/q/default/audit', heading: 'Who did what', shows: 'the database is being upgraded' },
  { name: 'changes', path: '/q/default/changes', heading: 'Changes', shows: 'What became of them' },
  { name: 'log', path: '/q/default/log', heading: 'Log', shows: 'newest-1' },
]

/** The same page of another queue. */
export const inQueue = (path: string, queue: string): string => path.replace('/q/default', `/q/${queue}`)
