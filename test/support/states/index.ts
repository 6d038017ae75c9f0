/** A second, naive fold of a queue's events, to compare with the core's; what a state contains, as a text; and how large it is. */
export { comparisonsOf } from './comparisons.js'
export { areSame, type Contents, contentsOf, differenceOf, textOf, textOfContents } from '@daybook/core/testing'
export { looksOf } from './looks.js'
export { limitKeysOf } from './shadow-limits.js'
export type { ShadowLease, ShadowTask } from './shadow-task.js'
export { Shadow } from './shadow.js'
export { limitsApart, rowsIn, type Sizes, sizesOf } from './sizes.js'
export * from './views.js'
