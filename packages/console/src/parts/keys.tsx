/** Keys. `?` lists those of the page. No key does anything that cannot be undone: actions ask first. */
import { signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

export interface Key {
  /** One key, or two in a row: `g t`. */
  readonly keys: string
  readonly does: string
  readonly run: () => void
}

const held = signal<ReadonlyArray<ReadonlyArray<Key>>>([])
const helpShown = signal(false)

/** The keys of a component, as long as it is shown. */
export const useKeys = (keys: ReadonlyArray<Key>): void => {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const own = keys.map((key, i) => ({ ...key, run: () => latest.current[i]?.run() }))
    held.value = [...held.peek(), own]
    return () => {
      held.value = held.peek().filter((each) => each !== own)
    }
  }, [keys.map((key) => key.keys).join()])
}

/** Nobody types letters into these. */
const withoutText: ReadonlyArray<string> = ['checkbox', 'range']

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement ? !withoutText.includes(target.type) : target instanceof HTMLElement && (target.isContentEditable || /^(?:TEXTAREA|SELECT)$/.test(target.tagName))

export const startKeys = (): void => {
  let first: string | undefined
  let forget: ReturnType<typeof setTimeout> | undefined
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTyping(event.target) || document.querySelector('dialog[open]') !== null) return
    const typed = first === undefined ? event.key : `${first} ${event.key}`
    const all = held.peek().flat()
    clearTimeout(forget)
    first = undefined
    // The page's own keys are registered after the shell's, and take precedence.
    const found = all.findLast(({ keys }) => keys === typed)
    if (found !== undefined) {
      event.preventDefault()
      found.run()
    } else if (all.some(({ keys }) => keys.startsWith(`${typed} `))) {
      first = typed
      forget = setTimeout(() => (first = undefined), 1_500)
    }
  })
}

export const showKeys = (): void => {
  helpShown.value = true
}

export const KeysDialog = () => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    if (helpShown.value) dialog.current?.showModal()
  }, [helpShown.value])
  if (!helpShown.value) return null
  return (
    <dialog ref={dialog} aria-labelledby="keys-title" onClose={() => (helpShown.value = false)}>
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {held.value.flat().map(({ keys, does }) => (
          <div key={keys}>
            <dt>{keys.split(' ').map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <div class="buttons"><button type="button" autoFocus onClick={() => dialog.current?.close()}>Close</button></div>
    </dialog>
  )
}
