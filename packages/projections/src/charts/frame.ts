/** The parts of every picture: a background, a title, a sentence below it, and a description for those who cannot see it. */
import { element, text } from './svg.js'
import { shortName, style } from './theme.js'

export const width = 760
export const titleHeight = 56
const subtitleLetters = 118
/** The room for names at the left of rows. */
export const nameLetters = 28

export interface Heading {
  readonly title: string
  readonly subtitle: string
}

export const frame = ({ title, subtitle }: Heading, height: number, ...inside: ReadonlyArray<string>): string =>
  `${element(
    'svg',
    { xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height, role: 'img', 'aria-labelledby': 'title desc' },
    element('title', { id: 'title' }, text(title)),
    element('desc', { id: 'desc' }, text(subtitle)),
    element('style', {}, style),
    element('rect', { class: 'ground', width, height }),
    label(16, 24, title, 'text title'),
    label(16, 44, shortName(subtitle, subtitleLetters), 'quiet'),
    ...inside,
  )}\n`

/** A text at a point. */
export const label = (x: number, y: number, content: string, classes = 'text', anchor: 'start' | 'middle' | 'end' = 'start'): string =>
  element('text', { x, y, class: classes, 'text-anchor': anchor === 'start' ? undefined : anchor }, text(content))

export const line = (x1: number, y1: number, x2: number, y2: number, classes: string): string => element('line', { x1, y1, x2, y2, class: classes })
