export { startLauncher } from './launcher.js'
