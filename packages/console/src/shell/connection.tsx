/** The only place that says whether the shown data are fresh, and of which moment they are. */
import { momentShown, queueShown, withQuery } from '../address/address.js'
import { live } from '../api/live.js'
import { may } from '../api/session.js'
import { contact } from '../api/request.js'
import { now } from '../parts/clock.js'
import { durationText } from '../parts/format.js'
import { clockTime, exactTime, fullTime } from '../parts/moment.js'
import { momentTime } from '../parts/moment-time.js'

const words = { off: 'asks every few seconds', connecting: 'connecting …', open: 'live' } as const

export const Connection = () => {
  const { lastAt, lostAt } = contact.value
  if (lostAt !== undefined || momentShown.value !== undefined) return null
  const state = live.value
  const isPolled = queueShown.value === undefined || !may.seeAll.value
  return (
    <p class="connection" data-state={isPolled ? 'off' : state} role="status" title={lastAt === undefined ? undefined : `the server answered last at ${exactTime(lastAt)}`}>
      <span class="dot" />{isPolled ? words.off : words[state]}
    </p>
  )
}

/** Above every page, because what it shows may be old. */
export const LostBanner = () => {
  const { lastAt, lostAt } = contact.value
  if (lostAt === undefined) return null
  const age = lastAt === undefined ? '' : ` What is shown is of ${clockTime(lastAt)}, ${durationText(Math.max(0, Math.round((now.value - lastAt) / 1_000)))} ago.`
  // The age changes with each second, and is not read out each time.
  return <p class="banner lost"><span role="status">No connection to the server.</span>{age} Trying again …</p>
}

/** A frame around a past moment, so that nobody takes it for the present. */
export const PastBanner = () => {
  const moment = momentShown.value
  if (moment === undefined) return null
  return (
    <p class="past-banner" role="status">
      <strong>The past.</strong> As it was{moment.revision !== undefined && ` after event ${moment.revision}`}{momentTime.value !== undefined && ` at ${fullTime(momentTime.value)}`}. Nothing can be changed here.{' '}
      <a href={withQuery({ at: undefined, revision: undefined })}>Back to now</a>
    </p>
  )
}
