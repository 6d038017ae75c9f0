/** Discoveries, validation loops, guardian. */
import type { Plant } from '../plant.js'

const core = 'packages/core/src/'
const spawn = `${core}decide/spawn.ts`
const killedBy = ['test/core/loops.test.ts']
const overHttp = ['test/http/loops.test.ts']
const findings = 'packages/adapters/src/engine/contents/findings.ts'

export const loopPlants: ReadonlyArray<Plant> = [
  { title: 'spawn: a discovery about another ticket needs no guardian', file: spawn, find: "isElsewhere ? 'other-ticket' :", replace: '', killedBy },
  { title: 'spawn: the ids differ at each report', file: spawn, find: '${token}\\n${part}`', replace: '${token}\\n${part}${Math.random()}`', killedBy },
  { title: 'spawn: the first failure counts apart from those of the re-checks', file: spawn, find: "({ group: { type } }: TaskRecord, error: string): string => failureSignature(type, 'VALIDATION', error)", replace: '({ group: { type, phase } }: TaskRecord, error: string): string => failureSignature(type, phase, error)', killedBy },
  { title: 'spawn: the loop is halted one failure late', file: spawn, find: '?? 0) + 1 >= loops.repeatSignatureLimit', replace: '?? 0) >= loops.repeatSignatureLimit', killedBy },
  { title: 'spawn: the budget of rounds has one round too many', file: spawn, find: 'rounds > loops.maxRounds', replace: 'rounds > loops.maxRounds + 1', killedBy },
  { title: 'spawn: the re-check does not wait for the fix', file: spawn, find: ', dependencies: [fixId] }', replace: ' }', killedBy },
  { title: 'spawn: no bound on what one completion spawns', file: spawn, find: 'known === undefined || left === 0', replace: 'known === undefined', killedBy },
  { title: 'spawn: no bound on what waits', file: spawn, find: 'else if (open < approvalsMax) propose', replace: 'else if (open < 1e9) propose', killedBy },
  { title: 'spawn: dead letters outside of chains of fixes wait for a guardian', file: spawn, find: 'rootTaskId === undefined || discovery !== validationDiscovery ||', replace: '', killedBy },
  { title: 'spawn: what is spawned comes after the completion', file: `${core}decide/settle.ts`, find: "  events.push({ type: 'Completed', at, data, content })", replace: "  events.unshift({ type: 'Completed', at, data, content })", killedBy },
  { title: 'guardian: released, a chain is not counted from zero', file: `${core}fold/approvals.ts`, find: 'chain.rounds = 0', replace: 'chain.rounds += 0', killedBy },
  { title: 'guardian: the rounds of a chain are forgotten when its only task is one that was approved', file: `${core}fold/approvals.ts`, find: "closeApproval(tables, id, event.type === 'SpawnApproved')", replace: 'closeApproval(tables, id)', killedBy: ['test/properties/invariants.test.ts'] },
  { title: 'guardian: a dead letter that was reviewed still waits', file: `${core}fold/approvals.ts`, find: "if (kind === 'dead-letter') closeApproval", replace: "if (kind === 'loop') closeApproval", killedBy },
  { title: 'guardian: a chain stays in the state for ever', file: `${core}state/approvals.ts`, find: '  chains.delete(root)\n', replace: '', killedBy },
  { title: 'guardian: a rollback leaves the approval open', file: `${core}state/tables.ts`, find: 'readonly approvals = new UndoMap<Approval>(this.undoLog,', replace: 'readonly approvals = new UndoMap<Approval>(new UndoLog(),', killedBy },
  { title: 'findings: the metadata of the parent are passed on with their secrets', file: findings, find: 'const safe = redacted(value)\n  return Buffer', replace: 'const safe = value\n  return Buffer', killedBy: overHttp },
  { title: 'findings: details are passed on with their secrets', file: findings, find: 'clipped(redactedIn(details === undefined ? kind : `${kind}: ${details}`), textMax)', replace: 'clipped(details === undefined ? kind : `${kind}: ${details}`, textMax)', killedBy: overHttp },
  { title: 'findings: a completion fails for the damaged content of its task', file: 'packages/adapters/src/engine/contents/groundwork.ts', find: "error.code === 'damaged'", replace: "error.code !== 'damaged'", killedBy: ['test/engine/findings.test.ts'] },
  { title: 'findings: a completion fails for what does not fit in one append', file: 'packages/adapters/src/engine/decider.ts', find: "command.type === 'Complete' && command.found !== undefined) {", replace: "command.type === 'Complete' && command.found === undefined) {", killedBy: ['test/engine/findings.test.ts'] },
]
