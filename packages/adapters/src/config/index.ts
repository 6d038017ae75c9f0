export * from './serve-options.js'
export { type Environment, readServeOptions, type ServeFlags } from './read-serve-options.js'
export { checkPatch, parseYaml, type Problems, readSettingsFile } from './settings-file.js'
export { readStore } from './store-choice.js'
