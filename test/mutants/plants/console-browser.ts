/** The console in a browser: what it must never do to a queue, and what must never be done to whoever looks at it. */
import type { Plant } from '../plant.js'

const source = 'packages/console/src/'
const stories = ['test/console/stories.test.ts']
const writes = ['test/console/writes.test.ts']
const connection = ['test/console/connection.test.ts']

export const consoleBrowserPlants: ReadonlyArray<Plant> = [
  {
    title: 'the console does what a button says before anybody has confirmed it',
    file: `${source}parts/action.tsx`,
    find: 'offered.value = action\n',
    replace: "offered.value = action\n  void action.run({ reason: 'at once', fields: {}, progress: () => undefined })\n",
    killedBy: writes,
    named: "'agents': nothing before it is confirmed",
  },
  {
    title: 'the console offers to change the past',
    file: `${source}pages/agents/agents-page.tsx`,
    find: 'may.operate.value && momentShown.value === undefined',
    replace: 'may.operate.value && momentShown !== undefined',
    killedBy: writes,
    named: "'agents': nothing about the past",
  },
  {
    title: 'the console shows what a producer sends as markup',
    file: `${source}pages/task/task-page.tsx`,
    find: '<p>{task.description}</p>',
    replace: '<p dangerouslySetInnerHTML={{ __html: task.description }} />',
    killedBy: ['test/console/hostile-texts.test.ts'],
    named: "whatever it is 'task'",
  },
  {
    title: 'the console rounds the numbers that it shows',
    file: `${source}api/exact-numbers.ts`,
    find: 'if (!some) return JSON.parse(text)',
    replace: 'return JSON.parse(text)',
    killedBy: ['test/console/pure-parts.test.ts'],
  },
  {
    title: 'the console rounds the numbers of a payload that somebody has edited',
    file: `${source}pages/task/task-actions.tsx`,
    find: "return exactNumbers(fields.payload ?? '')",
    replace: "return JSON.parse(fields.payload ?? '')",
    killedBy: stories,
    named: 'with another payload',
  },
  {
    title: 'the console cancels all tasks instead of all that match',
    file: `${source}pages/tasks/bulk.tsx`,
    find: 'body: { filter: chosen.filter, reason,',
    replace: 'body: { filter: {}, reason,',
    killedBy: stories,
    named: 'cancels all tasks that match',
  },
  {
    title: 'a hidden tab of the console goes on asking',
    file: `${source}api/questions.ts`,
    find: 'if (document.hidden) return',
    replace: '',
    killedBy: connection,
    named: 'a tab that is hidden',
  },
  {
    title: 'a hidden tab of the console keeps its connection',
    file: `${source}api/live.ts`,
    find: 'isVisible.value = !document.hidden',
    replace: 'isVisible.value = true',
    killedBy: connection,
    named: 'a tab that is hidden',
  },
  {
    title: 'a command of the console whose answer was lost is done once more',
    file: `${source}api/request.ts`,
    find: 'keys.get(`${path} ${sent}`) ?? randomKey()',
    replace: 'randomKey()',
    killedBy: connection,
    named: 'whose answer is lost',
  },
  {
    title: 'a dialog of the console that is left loses the focus',
    file: `${source}parts/action.tsx`,
    find: 'const close = (): void => dialog.current?.close()',
    replace: 'const close = (): void => gone()',
    killedBy: ['test/console/keyboard.test.ts'],
    named: 'gives the focus back',
  },
  {
    title: 'new tasks move the rows that somebody reads',
    file: `${source}pages/tasks/task-pages.ts`,
    find: 'if (!this.isHeld || isFirst)',
    replace: 'if (this.version !== undefined)',
    killedBy: ['test/console/long-list.test.ts'],
    named: 'announce themselves',
  },
]
