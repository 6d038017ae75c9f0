/** Starts the console. */
import { render } from 'preact'
import { followLinks } from './address/address.js'
import { startLive } from './api/live.js'
import { startAsking } from './api/questions.js'
import { App } from './app.js'
import { startClock } from './parts/clock.js'
import { startKeys } from './parts/keys.js'
import { startTheme } from './parts/theme.js'
import './styles/main.css'

startTheme()
startClock()
startAsking()
startLive()
startKeys()
followLinks()
const root = document.getElementById('app')
if (root !== null) {
  root.textContent = ''
  render(<App />, root)
}
