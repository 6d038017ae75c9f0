/** A JSON value as a tree. Text is shown as text, whatever it contains; numbers as they were sent. */
import { ExactNumber } from '../api/exact-numbers.js'

/** The largest number of entries of one object or array that are drawn at once. */
const entriesMax = 200
const textMax = 2_000

export const Tree = ({ value, isOpen = true }: { readonly value: unknown; readonly isOpen?: boolean }) => <div class="tree"><Node value={value} depth={isOpen ? 0 : 9} /></div>

const Node = ({ name, value, depth }: { readonly name?: string; readonly value: unknown; readonly depth: number }) => {
  const label = name === undefined ? null : <><span class="key">{name}</span>: </>
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return <div class="leaf">{label}<Leaf value={value} /></div>
  const entries = Object.entries(value)
  const brackets = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  if (entries.length === 0) return <div class="leaf">{label}{brackets.join('')}</div>
  return (
    <details open={depth < 2}>
      <summary>{label}{brackets[0]} <span class="quiet">{entries.length}</span> {brackets[1]}</summary>
      <div class="inside">
        {entries.slice(0, entriesMax).map(([key, each]) => <Node key={key} name={key} value={each} depth={depth + 1} />)}
        {entries.length > entriesMax && <div class="quiet">and {entries.length - entriesMax} more: copy the text to see them</div>}
      </div>
    </details>
  )
}

const Leaf = ({ value }: { readonly value: unknown }) => {
  if (value instanceof ExactNumber) return <span class="number">{value.text}</span>
  if (typeof value === 'string') return <span class="text">{JSON.stringify(value.length > textMax ? `${value.slice(0, textMax)}…` : value)}</span>
  return <span class={typeof value}>{String(value)}</span>
}
