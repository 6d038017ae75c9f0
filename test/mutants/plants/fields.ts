/** The table of a task's fields, and what follows from it. */
import type { Plant } from '../plant.js'

const fields = ['test/http/task-fields.test.ts']

export const fieldPlants: ReadonlyArray<Plant> = [
  {
    title: 'fields: an imported task begins a chain of its own',
    file: 'packages/core/src/decide/enqueue.ts',
    find: '    copyImported(task, data)\n',
    replace: '',
    killedBy: ['test/http/loops.test.ts'],
  },
  {
    title: 'fields: the first of a record\'s extras is lost in the fold',
    file: 'packages/core/src/fold/arrival.ts',
    find: 'copierOf(extraFields)',
    replace: 'copierOf(extraFields.slice(1))',
    killedBy: fields,
  },
  {
    title: 'fields: the last one is lost in the event',
    file: 'packages/core/src/decide/enqueue.ts',
    find: "unrolled(optionalFacts, 'task, facts'",
    replace: "unrolled(optionalFacts.slice(0, -1), 'task, facts'",
    killedBy: fields,
  },
  {
    title: 'fields: an empty list is recorded',
    file: 'packages/core/src/decide/enqueue.ts',
    find: ' && task.${name}.length > 0',
    replace: '',
    killedBy: fields,
  },
  {
    title: 'fields: one is lost when a task is prepared',
    file: 'packages/adapters/src/engine/contents/prepare.ts',
    find: "name !== 'skills'",
    replace: "name !== 'skills' && name !== 'tenant'",
    killedBy: fields,
  },
  {
    title: 'fields: a claim shows a time in milliseconds',
    file: 'packages/adapters/src/sent-fields.ts',
    find: "isTimeField(name) ? 'time' : 'print'",
    replace: "'print'",
    killedBy: fields,
  },
  {
    title: 'fields: a handler in the same process gets a time in milliseconds',
    file: 'packages/adapters/src/sent-fields.ts',
    find: 'fields[name] = isoOf(ms)',
    replace: 'fields[name] = ms',
    killedBy: fields,
  },
]
