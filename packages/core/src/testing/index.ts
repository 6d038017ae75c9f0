/** For tests of Daybook and of programs that use it: a second, naive fold, and the text of a state. */
export { Shadow, type ShadowBreaker, type ShadowLease, type ShadowPick, type ShadowTask } from './shadow.js'
export { type Sizes, sizesOf, tasksHeld } from './sizes.js'
export { differenceOf, textOf } from './text.js'
export * from './views.js'
export { SortedList, sortedByKey } from '../sorted-list.js'
export { TaskNumbers } from '../task-numbers.js'
export type { TaskRecord } from '../state.js'
export { TextIndex } from '../text-index.js'
