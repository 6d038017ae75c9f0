/** How pictures look, in light and dark. No colour carries meaning alone: a word stands with each. */

/** Shades of one hue, the strongest first. */
const lightShades = ['#0a3a66', '#1f5f9e', '#3b76b3', '#74a6d6', '#9cc2e4', '#c1d9ef']
const darkShades = ['#b9dcfb', '#86bff0', '#5a9bd3', '#3c78ab', '#31648f', '#284e72']
const shadesMax = lightShades.length

/** The shade of thing number `index` of `count`, spread over all shades. */
export const shadeOf = (index: number, count: number): number => (count < 2 ? 1 : Math.round((index * (shadesMax - 1)) / (count - 1)))

interface Ink {
  readonly ground: string
  readonly text: string
  readonly quiet: string
  readonly grid: string
  readonly accent: string
  readonly other: string
  readonly shades: ReadonlyArray<string>
  /** The colour of a label on each shade. */
  readonly onStrong: string
  readonly onWeak: string
}

const light: Ink = { ground: '#ffffff', text: '#1b1f24', quiet: '#59636e', grid: '#e4e8ec', accent: '#1f5f9e', other: '#6b7580', shades: lightShades, onStrong: '#ffffff', onWeak: '#1b1f24' }
const dark: Ink = { ground: '#0f1419', text: '#e6edf3', quiet: '#a2adb8', grid: '#2a323b', accent: '#86bff0', other: '#8b96a1', shades: darkShades, onStrong: '#0f1419', onWeak: '#ffffff' }

const rules = (ink: Ink): string =>
  [
    `.ground{fill:${ink.ground}}.text{fill:${ink.text}}.quiet{fill:${ink.quiet}}.grid{stroke:${ink.grid}}.axis{stroke:${ink.quiet}}`,
    `.accent{fill:${ink.accent};stroke:${ink.accent}}.other{fill:${ink.other};stroke:${ink.other}}.hollow{fill:${ink.ground}}.limit{stroke:${ink.text}}.edge{stroke:${ink.ground}}`,
    ...ink.shades.map((shade, i) => `.shade${i}{fill:${shade}}.on${i}{fill:${i < 3 ? ink.onStrong : ink.onWeak}}`),
  ].join('')

export const style = `text{font-family:system-ui,-apple-system,"Segoe UI",sans-serif;font-size:12px;font-variant-numeric:tabular-nums}.title{font-size:15px;font-weight:600}.small{font-size:11px}${rules(light)}@media screen and (prefers-color-scheme:dark){${rules(dark)}}`

/** Chinese, Japanese and Korean letters, and pictures, which are about as wide as two others. */
const wide = /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{3fffd}]/u

const placesOf = (letter: string): number => (wide.test(letter) ? 2 : 1)

const widthIn = (letters: ReadonlyArray<string>): number => letters.reduce((sum, letter) => sum + placesOf(letter), 0)

/** The width of a text of the usual size, roughly: there is no DOM to measure it. */
export const widthOf = (content: string, size = 12): number => widthIn([...content]) * size * 0.54

/** The name, cut to at most this many letters. A wide one counts as two. */
export const shortName = (name: string, letters: number): string => {
  const all = [...name]
  if (widthIn(all) <= letters) return name
  let left = letters - 1
  const end = all.findIndex((letter) => (left -= placesOf(letter)) < 0)
  return `${all.slice(0, end).join('')}…`
}
