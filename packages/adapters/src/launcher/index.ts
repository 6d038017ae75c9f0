export { cannotStart } from './find-program.js'
export { type Launcher, type LauncherOptions, startLauncher } from './launcher.js'
export { programHandler } from './program-handler.js'
export { NoSuchProgram } from './run-agent.js'
