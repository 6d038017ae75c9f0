/** The HTTP client. */
import type { Plant } from '../plant.js'

export const clientPlants: ReadonlyArray<Plant> = [
  {
    title: 'a request is sent without its id',
    file: 'packages/adapters/src/client/transport.ts',
    find: "if (requestId !== undefined) headers.push('daybook-request-id', requestId)",
    replace: '',
    killedBy: ['test/client/lost-answers.test.ts'],
  },
  {
    title: 'a request has another id each time it is sent',
    file: 'packages/adapters/src/client/client.ts',
    find: 'once(bulkTasks(texts, requestId))',
    replace: 'once(bulkTasks(texts))',
    killedBy: ['test/client/lost-answers.test.ts'],
  },
]
