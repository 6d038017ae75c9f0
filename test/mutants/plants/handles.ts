/** Handles, and declared types of tasks. */
import type { Plant } from '../plant.js'

const at = (file: string): string => `packages/client/src/${file}`
const handles = ['test/client/handles.test.ts']
const typed = ['test/client/typed-tasks.test.ts']

export const handlePlants: ReadonlyArray<Plant> = [
  { title: 'handles: a dead letter is waited for, without an end', file: at('handles/await-result.ts'), find: 'if (isSettled(answer.status)) return answer', replace: "if (answer.status === 'completed') return answer", killedBy: handles, named: 'that is a dead letter' },
  { title: 'handles: a server that is away ends the wait', file: at('handles/await-result.ts'), find: 'retryForMs: Math.min(leftMs, waitMs + retryForMs)', replace: 'retryForMs: 0 * retryForMs', killedBy: handles, named: 'INV-9' },
  { title: 'handles: who gives up goes on waiting', file: at('handles/await-result.ts'), find: 'joined(signal)', replace: 'joined(undefined)', killedBy: handles, named: 'gives up' },
  { title: 'handles: in bulk, each is of the first task', file: at('client.ts'), find: 'handled(answer, tasks[index])', replace: 'handled({ ...answer, id: tasks[0 * index]?.id ?? answer.id }, tasks[index])', killedBy: handles, named: 'in bulk' },
  { title: 'declared types: nothing is checked before it is sent', file: at('handles/codec.ts'), find: '(checked.ok ? { ok: true as const, value: json } : checked)', replace: '(checked.ok || !checked.ok ? { ok: true as const, value: json } : checked)', killedBy: typed },
  { title: 'declared types: the check sees the value, and not the JSON of it', file: at('handles/codec.ts'), find: 'after(decode(json), (checked)', replace: 'after(decode(value), (checked)', killedBy: typed },
  { title: 'declared types: a payload that nobody can decode is tried again', file: at('worker/typed-handler.ts'), find: 'export class InvalidPayload extends PermanentError', replace: 'export class InvalidPayload extends Error', killedBy: typed },
  { title: 'declared types: the handler gets the payload as it is in the queue', file: at('worker/typed-handler.ts'), find: '{ ...membersOf(task), payload: payload.value }', replace: '{ ...membersOf(task) }', killedBy: typed },
  { title: 'declared types: the output is not decoded for whoever waits', file: at('handles/handle.ts'), find: 'output: output.value }', replace: 'output: result.output }', killedBy: typed },
]
