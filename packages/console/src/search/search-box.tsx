/** The search field. It offers completions, and marks what it does not understand. */
import { useId, useRef, useState } from 'preact/hooks'
import { complete, type KnownValues, type Suggestion } from './complete.js'
import { parseSearch, type SearchProblem } from './parse.js'

export interface SearchBoxProps {
  readonly text: string
  readonly known: KnownValues
  readonly onChange: (text: string) => void
}

export const SearchBox = ({ text, known, onChange }: SearchBoxProps) => {
  const id = useId()
  const field = useRef<HTMLInputElement>(null)
  const mirror = useRef<HTMLDivElement>(null)
  const [cursor, setCursor] = useState(text.length)
  const [isOpen, setOpen] = useState(false)
  const [chosen, choose] = useState(-1)
  const { problems } = parseSearch(text)
  const suggestions = isOpen ? complete(text, cursor, known) : []
  // A term that is still being typed is not marked.
  const told = problems.filter(({ to }) => !(isOpen && suggestions.length > 0 && to === cursor))

  const take = (suggestion: Suggestion): void => {
    onChange(suggestion.text)
    setCursor(suggestion.cursor)
    choose(-1)
    requestAnimationFrame(() => field.current?.setSelectionRange(suggestion.cursor, suggestion.cursor))
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0 && suggestions.length > 0) {
      event.preventDefault()
      choose((chosen + step + suggestions.length + (chosen < 0 && step < 0 ? 1 : 0)) % suggestions.length)
    } else if ((event.key === 'Enter' || event.key === 'Tab') && chosen >= 0) {
      event.preventDefault()
      take(suggestions[chosen] as Suggestion)
    } else if (event.key === 'Escape') {
      if (isOpen && suggestions.length > 0) setOpen(false)
      else field.current?.blur()
    }
  }
  const noteCursor = (): void => {
    setCursor(field.current?.selectionStart ?? text.length)
    if (mirror.current !== null && field.current !== null) mirror.current.scrollLeft = field.current.scrollLeft
  }
  return (
    <div class="search" onFocusOut={(event) => !(event.currentTarget as HTMLElement).contains(event.relatedTarget as Node | null) && setOpen(false)}>
      <label for={id} class="hidden">Search tasks</label>
      <div class="search-field">
        <div class="search-mirror" ref={mirror} aria-hidden="true">{marked(text, told)}</div>
        <input
          id={id} ref={field} data-search type="text" value={text} placeholder='status:pending type:eng-* priority:>=8 age:>1h "timeout"' spellcheck={false} autocomplete="off"
          role="combobox" aria-expanded={suggestions.length > 0} aria-controls={`${id}-list`} aria-autocomplete="list"
          aria-activedescendant={chosen >= 0 && chosen < suggestions.length ? `${id}-${chosen}` : undefined} aria-invalid={told.length > 0} aria-describedby={`${id}-problems`}
          onInput={(event) => {
            setOpen(true)
            choose(-1)
            setCursor(event.currentTarget.selectionStart ?? 0)
            onChange(event.currentTarget.value)
          }}
          onFocus={() => setOpen(true)} onKeyDown={onKeyDown} onKeyUp={noteCursor} onClick={() => { setOpen(true); noteCursor() }} onScroll={noteCursor}
        />
      </div>
      <ul id={`${id}-list`} role="listbox" aria-label="Suggestions" class={suggestions.length === 0 ? 'hidden' : 'suggestions'}>
        {suggestions.map((suggestion, i) => (
          <li key={suggestion.label} id={`${id}-${i}`} role="option" aria-selected={i === chosen} onPointerDown={(event) => { event.preventDefault(); take(suggestion) }}>
            {suggestion.label} {suggestion.hint !== undefined && <span class="quiet">{suggestion.hint}</span>}
          </li>
        ))}
      </ul>
      <div id={`${id}-problems`} class="search-problems" role="status">
        {told.map(({ from, to, message }) => <p key={from}><code>{text.slice(from, to)}</code> {message}</p>)}
      </div>
    </div>
  )
}

/** The same text behind the field, with a wave under the terms that are not understood. */
const marked = (text: string, problems: ReadonlyArray<SearchProblem>) => {
  let at = 0
  const parts = problems.flatMap(({ from, to }) => {
    const plain = text.slice(at, from)
    at = to
    return [plain, <mark key={from}>{text.slice(from, to)}</mark>]
  })
  return [...parts, text.slice(at)]
}
