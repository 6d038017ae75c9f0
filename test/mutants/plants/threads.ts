/** Threads, and requests to them. */
import type { Plant } from '../plant.js'

const at = (file: string): string => `packages/adapters/src/threads/${file}`
const killedBy = ['test/smoke/thread-requests.test.ts']

export const threadPlants: ReadonlyArray<Plant> = [
  { title: 'each thread gets a young generation as large as the server’s', file: at('new-thread.ts'), find: "  setFlagsFromString('--max-semi-space-size=0')\n", replace: '  void setFlagsFromString\n', killedBy: ['test/smoke/threads.test.ts'], named: 'keeps its limit' },
  { title: 'threads load hundreds of modules, although there is a bundle', file: at('new-thread.ts'), find: 'bundledThread(script) ?? script', replace: 'script', killedBy: ['test/smoke/threads.test.ts'], named: 'from the bundled program' },
  { title: 'a bundle of somebody else starts any file with the name of a thread', file: at('new-thread.ts'), find: " || !import.meta.url.endsWith('/dist/threads/new-thread.js')", replace: '', killedBy: ['test/smoke/threads.test.ts'], named: 'from the bundled program' },
  { title: 'threads are looked for in a bundle that does not have them', file: at('new-thread.ts'), find: 'existsSync(bundled) ? bundled', replace: 'existsSync(script) ? bundled', killedBy: ['test/smoke/threads.test.ts'], named: 'from the bundled program' },
  { title: 'thread requests: the oldest request gets each answer', file: at('requests.ts'), find: 'const { resolve, reject } = this.waiting.get(message.id) as Waiting\n      this.waiting.delete(message.id)', replace: 'const [id, { resolve, reject }] = [...this.waiting][0]!\n      this.waiting.delete(id)', killedBy },
  { title: 'thread requests: an answered request still waits', file: at('requests.ts'), find: '      this.waiting.delete(message.id)\n', replace: '', killedBy },
  { title: 'thread requests: errors have no code', file: at('requests.ts'), find: 'message.code === undefined ?', replace: 'message.code !== null ?', killedBy },
  { title: 'thread requests: the owner is not told that the thread has ended', file: at('requests.ts'), find: '      onEnd()\n', replace: '      void onEnd\n', killedBy },
  { title: 'thread requests: what ended the thread is not told', file: at('requests.ts'), find: '(problem = errorText(error))', replace: 'void (problem === error)', killedBy },
  { title: 'thread requests: an answer that cannot be sent ends the thread', file: at('requests.ts'), find: '.then((given) => send({ id, answer: given })).catch(failed)', replace: '.then((given) => send({ id, answer: given }), failed)', killedBy },
]
