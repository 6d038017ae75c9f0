export * from './types.js'
export * from './daybook-types.js'
export * from './prepare.js'
