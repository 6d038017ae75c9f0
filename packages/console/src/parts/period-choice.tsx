/** Chooses the period of a page: the last hours, or from one time to another. It is in the address. */
import { go, withQuery } from '../address/address.js'
import { fullTime, localTime } from './moment.js'
import { periods, type ShownPeriod } from './period.js'

export const PeriodChoice = ({ shown: { from, to, hours } }: { readonly shown: ShownPeriod }) => {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const time = (name: string): string | undefined => {
      const at = new Date(String(form.get(name))).getTime()
      return Number.isNaN(at) ? undefined : new Date(at).toISOString()
    }
    go(withQuery({ from: time('from'), to: time('to'), hours: undefined, after: undefined }), { stay: true })
  }
  return (
    <div class="period">
      <span class="bar" role="group" aria-label="Period">
        {Object.entries(periods).map(([each, name]) => <a key={each} href={withQuery({ hours: each, from: undefined, to: undefined, after: undefined })} aria-current={each === hours ? 'true' : undefined}>{name}</a>)}
      </span>
      {/* The last hours move on with time: what somebody is typing stays. */}
      <form key={hours ?? `${from} ${to}`} class="bar" onSubmit={submit} title={`from ${fullTime(Date.parse(from))} to ${to === undefined ? 'now' : fullTime(Date.parse(to))}`}>
        <label>from <input type="datetime-local" name="from" step="1" required defaultValue={localTime(Date.parse(from))} /></label>
        <label>to <input type="datetime-local" name="to" step="1" defaultValue={to === undefined ? '' : localTime(Date.parse(to))} /></label>
        <button type="submit">Show</button>
      </form>
    </div>
  )
}
