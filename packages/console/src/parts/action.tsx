/**
 * Actions. No action is done by one click: `offer` opens a dialog that says what will be done, to how many, and asks for the reason that the event
 * will record. The result is shown with the event.
 */
import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { address, keepFocus, linkTo } from '../address/address.js'
import { pathOf } from '../address/url.js'
import { moved } from '../api/questions.js'
import { ApiProblem, forgetKeys, request } from '../api/request.js'
import { may, me } from '../api/session.js'
import { ProblemNote } from './problem-note.js'

export interface ActionField {
  readonly name: string
  readonly label: string
  readonly kind: 'text' | 'number' | 'choice' | 'json'
  readonly value?: string
  readonly choices?: ReadonlyArray<string>
  readonly hint?: string
  /** Default: it may be left empty. */
  readonly required?: boolean
}

export interface Given {
  readonly reason: string
  /** By name; empty if left empty. */
  readonly fields: Readonly<Record<string, string>>
  /** Reports the progress of a long action. */
  readonly progress: (text: string) => void
}

export interface Done {
  /** The result, in one sentence. */
  readonly said: string
  readonly queue: string
  /** The revision of the last event that the action appended. */
  readonly revision?: number
  /** Where to look next. */
  readonly link?: { readonly to: string; readonly text: string }
}

export interface Action {
  readonly title: string
  /** What the action will do, and to how many. */
  readonly does: ComponentChildren
  /** The text of the button: the action, not "OK". */
  readonly verb: string
  readonly isDestructive?: boolean
  /** Default: required. */
  readonly reason?: 'required' | 'optional' | 'none'
  readonly fields?: ReadonlyArray<ActionField>
  readonly run: (given: Given) => Promise<Done>
}

const offered = signal<Action | undefined>(undefined)
/** The result of the last action. */
export const notice = signal<(Done & { readonly event?: string }) | undefined>(undefined)

export const offer = (action: Action): void => {
  offered.value = action
}

/**
 * Offers what had to be asked for first, unless another place is shown by then: it would be about something that nobody sees any more. Nor does it take the
 * place of a dialog that was opened meanwhile.
 */
export const offerHere = async (asked: () => Promise<Action>): Promise<void> => {
  const place = placeShown()
  const action = await asked()
  if (placeShown() === place && offered.peek() === undefined) offer(action)
}

/** Which columns a list has makes no other place. */
const placeShown = (): string => {
  const { path, query } = address.peek()
  return JSON.stringify([path, { ...query, columns: undefined }])
}

export const ActionButton = ({ action, children, primary = false }: { readonly action: () => Action; readonly children: ComponentChildren; readonly primary?: boolean }) => (
  <button type="button" class={primary ? 'primary' : undefined} onClick={() => offer(action())}>{children}</button>
)

/** The dialog of the offered action. Rendered once, in the shell. */
export const ActionDialog = () => {
  const action = offered.value
  return action === undefined ? null : <OpenDialog key={action.title} action={action} />
}

const OpenDialog = ({ action }: { readonly action: Action }) => {
  const { title, does, verb, isDestructive = false, reason: wanted = 'required', fields = [] } = action
  const dialog = useRef<HTMLDialogElement>(null)
  const [progress, setProgress] = useState<string | undefined>(undefined)
  const [problem, setProblem] = useState<ApiProblem | undefined>(undefined)
  useEffect(() => {
    dialog.current?.showModal()
    // After a logout it is not offered to whoever logs in next.
    return () => void (offered.value = undefined)
  }, [])
  // The browser gives the focus back to where it was, if the dialog is closed before it goes.
  const close = (): void => dialog.current?.close()
  const gone = (): void => {
    offered.value = undefined
    forgetKeys()
    keepFocus()
  }
  const submit = (event: SubmitEvent): void => {
    event.preventDefault()
    const form = new FormData(event.currentTarget as HTMLFormElement)
    const text = (name: string): string => String(form.get(name) ?? '').trim()
    const given = { reason: text('reason'), fields: Object.fromEntries(fields.map(({ name }) => [name, text(`field-${name}`)])), progress: setProgress }
    setProblem(undefined)
    setProgress('sending …')
    void finish(action, given).then(close, (error: unknown) => {
      setProgress(undefined)
      setProblem(error instanceof ApiProblem ? error : new ApiProblem(0, 'invalid', error instanceof Error ? error.message : String(error)))
    })
  }
  const isBusy = progress !== undefined
  return (
    <dialog ref={dialog} aria-labelledby="action-title" onClose={gone} onCancel={(event) => isBusy && event.preventDefault()}>
      <form onSubmit={submit}>
        <h2 id="action-title">{title}</h2>
        <div class="does">{does}</div>
        {fields.map((field) => <Field key={field.name} field={field} />)}
        {wanted !== 'none' && (
          <label>
            Reason{wanted === 'optional' && ' (may be left out)'}
            <input name="reason" required={wanted === 'required'} maxLength={1_000} autoFocus={fields.length === 0} autocomplete="off" />
            <small>The event will keep it, with your name: {me.value?.name}.</small>
          </label>
        )}
        {problem !== undefined && <ProblemNote problem={problem} isOfCommand />}
        <div class="buttons">
          {isBusy && <span class="quiet" role="status">{progress}</span>}
          <button type="button" disabled={isBusy} onClick={close}>Leave it</button>
          <button type="submit" disabled={isBusy} class={isDestructive ? 'destructive' : 'primary'}>{verb}</button>
        </div>
      </form>
    </dialog>
  )
}

const finish = async (action: Action, given: Given): Promise<void> => {
  const done = await action.run(given)
  notice.value = done
  moved(done.queue)
  const { queue, revision } = done
  if (revision === undefined || !may.seeAll.value) return
  // It is done, also if nobody can say now which event it became.
  const event = await firstEventOf(queue, revision).catch(() => undefined)
  if (event !== undefined && notice.value === done) notice.value = { ...done, revision: event.revision, event: event.type }
}

interface LoggedEvent {
  readonly revision: number
  readonly type: string
  readonly correlationId?: string
}

/** So many events before the last one are looked at. */
const eventsBack = 50

/** A command may have become several events, which have one correlation id and stand together: the first is what was asked for, the others follow from it. */
const firstEventOf = async (queue: string, last: number): Promise<LoggedEvent | undefined> => {
  const from = Math.max(0, last - eventsBack)
  const { value } = await request<{ readonly events: ReadonlyArray<LoggedEvent> }>('GET', pathOf(['api', 'queues', queue, 'events']), { query: { from: String(from), limit: String(last - from + 1) } })
  const id = value.events.find(({ revision }) => revision === last)?.correlationId
  return value.events.find(({ revision, correlationId }) => revision === last || (id !== undefined && correlationId === id))
}

const Field = ({ field: { name, label, kind, value = '', choices = [], hint, required = false } }: { readonly field: ActionField }) => {
  const shared = { name: `field-${name}`, required }
  return (
    <label>
      {label}
      {kind === 'choice' ? (
        <select {...shared}>{choices.map((choice) => <option key={choice} selected={choice === value}>{choice}</option>)}</select>
      ) : kind === 'json' ? (
        <textarea {...shared} rows={8} spellcheck={false} defaultValue={value} />
      ) : kind === 'number' ? (
        <input {...shared} type="number" step="any" defaultValue={value} autocomplete="off" />
      ) : (
        <input {...shared} defaultValue={value} autocomplete="off" />
      )}
      {hint !== undefined && <small>{hint}</small>}
    </label>
  )
}

const dismiss = (): void => {
  notice.value = undefined
  keepFocus()
}

/** The result of the last action, with its event. Rendered once, in the shell. */
export const Notice = () => {
  const done = notice.value
  return (
    <div class="notice" role="status" aria-live="polite">
      {done !== undefined && (
        <p>
          {done.said}{' '}
          {done.revision !== undefined && may.seeAll.value && <a href={linkTo(['q', done.queue, 'log'], { from: String(done.revision) })}>{done.event ?? 'event'} {done.revision}</a>}{' '}
          {done.link !== undefined && <a href={done.link.to}>{done.link.text}</a>}{' '}
          <button type="button" class="plain" aria-label="dismiss" onClick={dismiss}>✕</button>
        </p>
      )}
    </div>
  )
}
