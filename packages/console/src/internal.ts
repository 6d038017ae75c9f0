/** The parts that need no browser, for the tests of this repository. */
export { ExactNumber, exactNumbers } from './api/exact-numbers.js'
export { matchPath, parsePath, pathOf, queryOf, textOfQuery } from './address/url.js'
export { agoText, counted, durationText, numberText, secondsOf, shortNumber } from './parts/format.js'
