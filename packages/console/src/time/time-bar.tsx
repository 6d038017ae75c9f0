/**
 * The time slider, under all pages: where its handle rests, that moment is shown by the whole console. It only changes the address, which every page follows. On the
 * page of changes it has two handles.
 */
import type { QueueSummary } from '@daybook/client'
import { computed, signal } from '@preact/signals'
import { useRef, useState } from 'preact/hooks'
import { momentShown, queueShown } from '../address/address.js'
import { pastAwaitedSince } from '../api/questions.js'
import { serverNow } from '../api/server-time.js'
import { useQueue } from '../api/use-query.js'
import { now } from '../parts/clock.js'
import { timeIn } from '../parts/format.js'
import { exactTime, fullTime, localTime } from '../parts/moment.js'
import { useKeys } from '../parts/keys.js'
import { changesLink, compareMoments, comparedMoments, isRevision, showMoment, textOfMoment } from './compared.js'
import { type Frame, frameOf, type FrameSize, frameSizeDefault, frameSizes } from './frame.js'
import { momentTime, useEvent } from '../parts/moment-time.js'
import { Handle, Picture } from './slider.js'

const presentStepMs = 10_000
/** The end of the slider: it moves on in steps, so that what depends on it is not drawn every second. */
const present = computed(() => Math.floor(now.value / presentStepMs) * presentStepMs)
/** How much the slider covers: how one looks, and not what is shown, so it is not in the address. */
const size = signal<FrameSize>(frameSizeDefault)
const hourMs = 3_600_000

const iso = (ms: number): string => new Date(ms).toISOString()

export const TimeBar = () => {
  const queue = queueShown.value
  const compared = comparedMoments.value
  const from = useTimeOf(queue, compared?.from)
  const to = useTimeOf(queue, compared?.to)
  const first = useEvent(queue, queue === undefined ? undefined : 0)
  const isUnknown = (momentShown.value !== undefined && momentTime.value === undefined) || (compared?.from !== undefined && from === undefined) || (compared?.to !== undefined && to === undefined)
  const held = useRef<Frame | undefined>(undefined)
  const moments = (compared === undefined ? [momentTime.value] : [from, to]).filter((moment) => moment !== undefined)
  const frame = frameOf({ size: queue === undefined && size.value === 'all' ? '30 days' : size.value, first: first === undefined ? undefined : Date.parse(first.at), present: present.value, moments, held: held.current })
  held.current = frame
  const [draft, setDraft] = useState<number | undefined>(undefined)
  // Until the event of a revision has told its time, the handle stays where it is.
  const place = useRef<number | undefined>(undefined)
  if (!isUnknown) place.current = momentTime.value
  const endsNow = frame.to === present.value
  const handle = { frame, endsNow, onDraft: setDraft }
  return (
    <section class="time-bar" aria-label="Time">
      <div class="time-line">
        <span class="edge quiet">{fullTime(frame.from)}</span>
        <div class={compared === undefined ? 'time-track' : 'time-track two'} title={queue === undefined ? undefined : 'above the line: completed tasks; below it: dead letters'}>
          {queue !== undefined && <Picture queue={queue} frame={frame} />}
          {compared === undefined ? (
            <Handle key="moment" {...handle} label="Moment shown" value={place.current} onMove={(at) => showMoment(at === undefined ? undefined : { at: iso(at) })} />
          ) : (
            <>
              <Handle key="from" {...handle} label="Compared: earlier moment" value={from ?? frame.from} onMove={(at = frame.to) => (to !== undefined && at > to ? compareMoments(compared.to ?? iso(to), iso(at)) : compareMoments(iso(at), compared.to))} />
              <Handle key="to" {...handle} label="Compared: later moment" value={to} onMove={(at) => (at !== undefined && from !== undefined && at < from ? compareMoments(iso(at), compared.from) : compareMoments(compared.from ?? iso(frame.from), at === undefined ? undefined : iso(at)))} />
            </>
          )}
        </div>
        <span class="edge quiet">{endsNow ? 'now' : fullTime(frame.to)}</span>
      </div>
      <div class="time-tools">
        {compared === undefined ? <ShownMoment queue={queue} draft={draft} /> : <p class="said">{draft === undefined ? <ComparedText from={from} to={compared.to === undefined ? undefined : to} /> : <strong>{fullTime(draft)}</strong>}</p>}
        <label>
          <span class="hidden">Length of the slider</span>
          <select value={size.value} onChange={({ currentTarget }) => (size.value = currentTarget.value as FrameSize)}>
            {Object.keys(frameSizes).filter((each) => each !== 'all' || queue !== undefined).map((each) => <option key={each} value={each}>{each}</option>)}
          </select>
        </label>
        {compared === undefined && <GoTo key={momentTime.value} at={momentTime.value ?? present.value} />}
        {compared === undefined && queue !== undefined && <a class="button" href={changesLink(queue, textOfMoment(momentShown.value) ?? iso(present.value - hourMs))}>What changed since</a>}
        {compared === undefined && <button type="button" disabled={momentShown.value === undefined} onClick={() => showMoment(undefined)}>Now</button>}
      </div>
    </section>
  )
}

/** When a moment of the address was. */
const useTimeOf = (queue: string | undefined, text: string | undefined): number | undefined => {
  const event = useEvent(queue, text !== undefined && isRevision(text) ? text : undefined)
  return timeIn(text === undefined || isRevision(text) ? (event?.at ?? '') : text)
}

const ComparedText = ({ from, to }: { readonly from: number | undefined; readonly to: number | undefined }) => (
  <>{from !== undefined && <>From <strong>{fullTime(from)}</strong></>} to <strong>{to === undefined ? 'now' : fullTime(to)}</strong></>
)

/** What is shown, in words; and the events before and after it. */
const ShownMoment = ({ queue, draft }: { readonly queue: string | undefined; readonly draft: number | undefined }) => {
  const isPast = momentShown.value !== undefined
  const since = pastAwaitedSince.value
  const at = momentTime.value
  return (
    <>
      {queue !== undefined && <Steps queue={queue} />}
      <p class="said" role="status">
        {draft !== undefined ? <strong>{fullTime(draft)}</strong>
        : !isPast ? <><strong>Now</strong> <span class="quiet hint">Move the handle to see the console as it was.</span></>
        : since !== undefined ? <span class="awaited">Computing this moment … <span aria-hidden="true">{Math.max(0, Math.round((now.value - since) / 1_000))} s</span></span>
        : <>{at !== undefined && <strong title={exactTime(at)}>{fullTime(at)}</strong>} {queue !== undefined && <EventThen queue={queue} />}</>}
      </p>
    </>
  )
}

const useRevision = (queue: string): number | undefined => useQueue<QueueSummary>(queue, []).revision

/** The last event of the moment that is shown. */
const EventThen = ({ queue }: { readonly queue: string }) => {
  const revision = useRevision(queue)
  const event = useEvent(queue, revision)
  if (revision === undefined || event === undefined) return null
  const { type, actor, data: { task } } = event
  const text = `after event ${revision}: ${type}${typeof task === 'string' ? ` ${task}` : ''}${actor === undefined ? '' : `, by ${actor}`}`
  return <span class="quiet event-then" title={text}>{text}</span>
}

const Steps = ({ queue }: { readonly queue: string }) => {
  const revision = useRevision(queue)
  const isPast = momentShown.value !== undefined
  const head = useQueue<QueueSummary>(queue, [], { presentOnly: true, everyMs: 15_000, when: isPast }).revision
  const canGoBack = revision !== undefined && revision > 0
  const canGoOn = isPast && revision !== undefined
  const back = (): void => {
    if (canGoBack) showMoment({ revision: String(revision - 1) })
  }
  const on = (): void => {
    if (canGoOn) showMoment(head !== undefined && revision + 1 >= head ? undefined : { revision: String(revision + 1) })
  }
  useKeys([
    { keys: '[', does: 'the moment one event earlier', run: back },
    { keys: ']', does: 'the moment one event later', run: on },
    { keys: '0', does: 'back to the present', run: () => isPast && showMoment(undefined) },
  ])
  return (
    <span class="steps">
      <button type="button" disabled={!canGoBack} onClick={back} aria-label="one event earlier" title="one event earlier  [">‹</button>
      <button type="button" disabled={!canGoOn} onClick={on} aria-label="one event later" title="one event later  ]">›</button>
    </span>
  )
}

const GoTo = ({ at }: { readonly at: number }) => {
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const given = new Date(String(new FormData(event.currentTarget as HTMLFormElement).get('time'))).getTime()
    // A moment that is not over cannot be shown.
    if (!Number.isNaN(given)) showMoment(given >= serverNow() - 1_000 ? undefined : { at: iso(given) })
  }
  return (
    <form onSubmit={submit}>
      <input name="time" type="datetime-local" step="1" required aria-label="Go to a time of this browser's zone" defaultValue={localTime(at)} />
      <button type="submit">Go</button>
    </form>
  )
}
