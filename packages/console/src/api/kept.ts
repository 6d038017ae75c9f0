/** A text that the browser keeps, for a tab or for longer. One that is told to keep nothing throws at each access: the text then lasts as long as the page. */

export interface Kept {
  readonly get: () => string | undefined
  /** `undefined` removes it. */
  readonly set: (text: string | undefined) => void
}

export const keptIn = (place: 'sessionStorage' | 'localStorage', key: string): Kept => ({
  get: () => {
    try {
      return window[place].getItem(key) ?? undefined
    } catch {
      return undefined
    }
  },
  set: (text) => {
    try {
      if (text === undefined) window[place].removeItem(key)
      else window[place].setItem(key, text)
    } catch {
      // The page goes on without.
    }
  },
})
