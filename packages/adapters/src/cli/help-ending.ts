/** The end of each command's help: related commands, and the meaning of exit codes. */
import type { Command } from 'commander'

export const exitCodesText = '0 done, 1 refused by the queue, 2 wrong usage, 3 server not reachable, 130 interrupted'

/** By command. The entry of a group is for all its commands. */
const related: Readonly<Record<string, ReadonlyArray<string>>> = {
  enqueue: ['list', 'result', 'work', 'batch', 'schedules', 'import'],
  import: ['export', 'enqueue', 'queues'],
  batch: ['enqueue', 'list', 'explain', 'dlq'],
  schedules: ['enqueue', 'list'],
  callback: ['park', 'show'],
  work: ['agents', 'claim', 'enqueue'],
  claim: ['complete', 'fail', 'release', 'heartbeat', 'work'],
  complete: ['claim', 'fail', 'result'],
  fail: ['claim', 'complete', 'dlq'],
  release: ['claim', 'fail'],
  heartbeat: ['claim', 'park'],
  park: ['callback', 'claim'],
  agents: ['work', 'top', 'settings set'],
  top: ['depth', 'watch', 'alerts', 'explain'],
  list: ['show', 'explain', 'depth', 'cancel'],
  show: ['explain', 'history', 'list'],
  depth: ['top', 'queues', 'list'],
  queues: ['depth', 'top'],
  watch: ['top', 'audit log', 'alerts'],
  alerts: ['breakers', 'dlq', 'top'],
  explain: ['show', 'breakers', 'limits', 'agents'],
  history: ['show', 'audit log', 'explain'],
  result: ['show', 'enqueue'],
  report: ['top', 'audit', 'alerts'],
  audit: ['history', 'export', 'report'],
  memory: ['result', 'history'],
  cancel: ['list', 'dlq discard', 'pause'],
  amend: ['bump', 'show'],
  bump: ['amend', 'explain'],
  restart: ['dlq retry', 'result'],
  pause: ['resume', 'breakers open'],
  resume: ['pause', 'depth'],
  dlq: ['breakers', 'explain', 'restart', 'report'],
  breakers: ['dlq', 'alerts', 'explain'],
  approvals: ['show', 'history'],
  erase: ['history', 'audit'],
  serve: ['token', 'settings', 'doctor', 'top'],
  settings: ['limits', 'explain', 'serve'],
  limits: ['settings', 'explain'],
  token: ['serve', 'audit log'],
  doctor: ['audit verify', 'alerts', 'backup'],
  simulate: ['report', 'audit what-if', 'settings'],
  project: ['report', 'doctor'],
  export: ['import', 'audit export', 'backup'],
  archive: ['backup', 'audit verify'],
  backup: ['archive', 'export', 'doctor'],
  completion: ['man'],
  man: ['completion'],
}

/** The related commands of a command line such as `dlq retry`. */
export const relatedTo = (path: string): ReadonlyArray<string> => related[path.split(' ')[0] ?? ''] ?? []

/** `path` is empty for the program itself. */
export const addEnding = (command: Command, path: string): void => {
  const others = relatedTo(path)
  const also = others.length === 0 ? '' : `See also: ${others.map((other) => `daybook ${other}`).join(', ')}\n`
  command.addHelpText('after', `\n${also}Exit codes: ${exitCodesText}.`)
}
