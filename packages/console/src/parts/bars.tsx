/** Quantities side by side, as bars with their names and figures. */
import type { ComponentChildren } from 'preact'
import { numberText } from './format.js'

export interface Bar {
  readonly key: string
  readonly name: ComponentChildren
  readonly value: number
  /** Whose hue it has. */
  readonly status: string
  readonly note?: ComponentChildren
}

export const Bars = ({ bars, label }: { readonly bars: ReadonlyArray<Bar>; readonly label: string }) => {
  const most = Math.max(1, ...bars.map(({ value }) => value))
  return (
    <ul class="bars" aria-label={label}>
      {bars.map(({ key, name, value, status, note }) => (
        <li key={key}>
          <span class="name">{name}</span>
          <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect class="track" width="100" height="8" /><rect data-status={status} width={(value / most) * 100} height="8" /></svg>
          <span class="figure">{numberText(value)}</span>
          {note !== undefined && <span class="note quiet">{note}</span>}
        </li>
      ))}
    </ul>
  )
}
