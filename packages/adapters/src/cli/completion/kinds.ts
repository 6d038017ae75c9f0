/** Kinds of values that are not in the declaration of an option or an argument, by the name that help texts use for them. */

export type Kind = 'queues' | 'types' | 'statuses' | 'priorities' | 'roles' | 'settings' | 'assignments' | 'reports' | 'schedules' | 'batches' | 'tokens' | 'agents' | 'events' | 'messages' | 'files'

const ofOptions: Readonly<Record<string, Kind>> = {
  '--queue': 'queues',
  '--queues': 'queues',
  '--type': 'types',
  '--types': 'types',
  '--status': 'statuses',
  '--priority': 'priorities',
  '--role': 'roles',
  '--agent': 'agents',
  '--batch': 'batches',
  '--file': 'files',
  '--config': 'files',
  '--data': 'files',
  '--out': 'files',
  '--svg': 'files',
  '--views': 'files',
  '--queue-files': 'files',
  '--tls-cert': 'files',
  '--tls-key': 'files',
  '--checkpoint-key': 'files',
  '--test-webhooks': 'files',
  '--module': 'files',
  '--settings': 'files',
  '--older': 'files',
}

/** By command and option, where an option has another meaning than elsewhere. */
const ofOptionsThere: Readonly<Record<string, Kind>> = {
  'audit log --type': 'events',
  'watch --events': 'messages',
  'audit verify --checkpoints': 'files',
  'audit prove --checkpoints': 'files',
  'man --write': 'files',
}

/** By command and argument. */
const ofArguments: Readonly<Record<string, Kind>> = {
  'enqueue type': 'types',
  'breakers open type': 'types',
  'breakers close type': 'types',
  'queues delete name': 'queues',
  'settings get key': 'settings',
  'settings set assignments': 'assignments',
  'report report': 'reports',
  'batch show id': 'batches',
  'batch close id': 'batches',
  'batch cancel id': 'batches',
  'schedules show name': 'schedules',
  'schedules set name': 'schedules',
  'schedules pause name': 'schedules',
  'schedules resume name': 'schedules',
  'schedules remove name': 'schedules',
  'token revoke name': 'tokens',
  'agents terminate agent': 'agents',
  'import path': 'files',
}

export const kindOfOption = (path: string, long: string): Kind | undefined => ofOptionsThere[`${path} ${long}`] ?? ofOptions[long]
export const kindOfArgument = (path: string, name: string): Kind | undefined => ofArguments[`${path} ${name}`] ?? (/^(?:file|folder)s?$/.test(name) ? 'files' : undefined)
