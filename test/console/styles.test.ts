/** CON-5: the style sheets of the console. No browser needed. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../../packages/console/src/styles', import.meta.url))
const sheets = readdirSync(folder).map((name) => ({ name, text: readFileSync(join(folder, name), 'utf8').replace(/\/\*.*?\*\//gs, '') }))
const tokens = sheets.find(({ name }) => name === 'tokens.css')?.text ?? ''

/** Classes that have a rule of their own, such as `.title {`. Rules for narrow windows may come again. */
const ownClasses = (text: string): ReadonlySet<string> => {
  const wide = text.replace(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, '')
  return new Set([...wide.matchAll(/([^{}]+)\{/g)].flatMap(([, selectors = '']) => selectors.split(',').map((each) => each.trim())).filter((each) => /^\.[\w-]+$/.test(each)))
}

/** Classes that several sheets describe, each with these sheets. */
const saidTwice = (all: typeof sheets): ReadonlyArray<string> => {
  const places = new Map<string, Array<string>>()
  for (const { name, text } of all) for (const each of ownClasses(text)) places.set(each, [...(places.get(each) ?? []), name])
  return [...places].filter(([, names]) => names.length > 1).map(([each, names]) => `${each}: ${names.join(', ')}`)
}

describe('CON-5: the style sheets', () => {
  test('describe each class in one place: a second rule of the same name would change pages that do not mean it', () => {
    expect(saidTwice(sheets)).toEqual([])
  })

  test('teeth: a class that a second sheet describes is found', () => {
    expect(saidTwice([{ name: 'a.css', text: '.track { height: 1px; }' }, { name: 'b.css', text: '.other, .track { opacity: 0.6; }' }])).toEqual(['.track: a.css, b.css'])
  })

  test('use each token, and say each colour once', () => {
    const all = sheets.map(({ text }) => text).join('\n')
    const colours = [...tokens.matchAll(/--([\w-]+): (light-dark\([^)]*\))/g)].map(([, name = '', value = '']) => ({ name, value }))
    expect(colours.length).toBeGreaterThan(15)
    expect(colours.filter(({ name }) => !all.includes(`var(--${name})`))).toEqual([])
    expect(colours.filter(({ value }, i) => colours.findIndex((other) => other.value === value) < i)).toEqual([])
  })
})

test('CON-5: nothing that is to be read is seen through: it would have less contrast than its colour', () => {
  const rules = sheets.flatMap(({ text }) => [...text.matchAll(/([^{}]+)\{([^{}]*)\}/g)]).filter(([, , body = '']) => /opacity: 0?\.\d/.test(body))
  // Pictures; what cannot be pressed; and what is about to be replaced.
  expect(rules.map(([, selector = '']) => selector.trim()).sort()).toEqual([".content main[aria-busy='true']", '.time-track .done', '.track', 'button:disabled'])
})

type Colour = readonly [number, number, number]

const colourOf = (name: string, scheme: 0 | 1): Colour => {
  const found = new RegExp(`--${name}: light-dark\\(#(\\w{6}), #(\\w{6})\\)`).exec(tokens)?.[scheme + 1] ?? ''
  return [0, 2, 4].map((at) => Number.parseInt(found.slice(at, at + 2), 16)) as unknown as Colour
}
const mixed = (a: Colour, b: Colour, share: number): Colour => a.map((value, i) => value * share + (b[i] as number) * (1 - share)) as unknown as Colour
const luminance = (colour: Colour): number => {
  const [red, green, blue] = colour.map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4)) as unknown as Colour
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
/** As WCAG 2 defines it. */
const contrast = (a: Colour, b: Colour): number => {
  const [dark, light] = [luminance(a), luminance(b)].sort((one, other) => one - other) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

describe.each([['light', 0], ['dark', 1]] as const)('CON-5: contrast, %s', (_, scheme) => {
  const of = (name: string): Colour => colourOf(name, scheme)
  const statuses = [...tokens.matchAll(/\[data-status='[\w-]+'\] \{ --hue: var\(--([\w-]+)\)/g)].map(([, name = '']) => name).filter((name) => name !== 'line')

  test('words have 4.5 on whatever they stand, also in their own chip', () => {
    expect(statuses.length).toBeGreaterThan(10)
    const words = ['ink', 'quiet', ...statuses]
    const grounds = [of('paper'), of('raised')]
    const found = words.flatMap((name) => grounds.flatMap((ground) => [[name, contrast(of(name), ground)], [`chip ${name}`, contrast(of(name), mixed(of(name), ground, 0.11))]] as const))
    expect(found.filter(([, ratio]) => ratio < 4.5)).toEqual([])
    for (const name of ['past', 'dead-letter', 'ink', 'quiet']) expect(contrast(of('paper'), of(name)), `words on ${name}`).toBeGreaterThanOrEqual(4.5)
  })

  test('the focus and the handles of the time slider have 3', () => {
    for (const name of ['focus', 'ink', 'past']) for (const ground of ['paper', 'raised']) expect(contrast(of(name), of(ground)), `${name} on ${ground}`).toBeGreaterThanOrEqual(3)
  })

  test('teeth: a handle that is seen through to four tenths has too little', () => {
    expect(contrast(mixed(of('past'), of('raised'), 0.35), of('raised'))).toBeLessThan(3)
  })
})
