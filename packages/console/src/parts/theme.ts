/** Light or dark: the system's preference, unless the user has chosen. */
import { effect, signal } from '@preact/signals'
import { keptIn } from '../api/kept.js'

export type Theme = 'system' | 'light' | 'dark'
const kept = keptIn('localStorage', 'daybook-theme')
const stored = kept.get()

export const theme = signal<Theme>(stored === 'light' || stored === 'dark' ? stored : 'system')

export const nextTheme = (): void => {
  theme.value = theme.value === 'system' ? 'light' : theme.value === 'light' ? 'dark' : 'system'
}

/** Counts changes of colours, so that charts are drawn again. */
export const colours = signal(0)

export const startTheme = (): void => {
  effect(() => {
    const { value } = theme
    if (value === 'system') {
      document.documentElement.removeAttribute('data-theme')
      kept.set(undefined)
    } else {
      document.documentElement.setAttribute('data-theme', value)
      kept.set(value)
    }
    colours.value = colours.peek() + 1
  })
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => (colours.value = colours.peek() + 1))
}
