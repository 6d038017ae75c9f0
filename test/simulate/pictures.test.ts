/** Pictures: XML that a strict parser takes, the same each time, with the figures in them, legible in light and dark. */
import { readScenario, type Simulation, picturesOf, simulate } from '@daybook/projections/simulate'
import { clockTicks, lengthText, lengthTicks, rowChart, timeChart } from '@daybook/projections/charts'
import { expect, test } from 'vitest'
import { parsed, textsOf } from '../support/svg.js'
import { eventful } from './workloads.js'

const simulation = simulate(eventful(7, 3))

test('SIM: pictures are well-formed, the same each time, with nothing that is no number, and no text outside', () => {
  const pictures = picturesOf(simulation)
  expect(picturesOf(simulate(eventful(7, 3)))).toEqual(pictures)
  for (const [name, svg] of Object.entries(pictures)) {
    expect(svg, name).not.toMatch(/NaN|Infinity|undefined/)
    const elements = parsed(svg)
    const [root] = elements
    expect([root?.name, root?.attributes.xmlns]).toEqual(['svg', 'http://www.w3.org/2000/svg'])
    const [width, height] = [Number(root?.attributes.width), Number(root?.attributes.height)]
    for (const { name: kind, attributes: { x, y, 'text-anchor': anchor }, text } of elements) {
      if (kind !== 'text') continue
      const long = text.length * 5.5
      const start = Number(x) - (anchor === 'end' ? long : anchor === 'middle' ? long / 2 : 0)
      expect([start >= 0, start + long <= width, Number(y) > 0, Number(y) <= height], `${name}: ${text}`).toEqual([true, true, true, true])
    }
    expect(elements.filter(({ name: kind }) => kind === 'title').map(({ text }) => text)).toEqual([expect.stringMatching(/^(Waiting|Waits|Deadlines|Agents)/)])
  }
})

test('SIM: pictures say the figures', () => {
  const pictures = picturesOf(simulation)
  const { settings, fifo, strict } = simulation.policies
  for (const { byPriority } of [settings, fifo, strict]) for (const { waits } of byPriority) expect(textsOf(pictures.waits)).toContain(lengthText(waits.p95))
  for (const { all: { deadlines: { met, decided } } } of [settings, fifo, strict]) expect(textsOf(pictures.deadlines)).toContain(`${((met / decided) * 100).toFixed(1)} %`)
  expect(textsOf(pictures['waiting-by-tenant'])).toEqual(expect.arrayContaining(settings.byTenant.map(({ tenant }) => tenant ?? 'no tenant')))
  expect(textsOf(pictures['waiting-by-priority'])).toEqual(expect.arrayContaining(settings.byPriority.map(({ priority }) => `priority ${priority}`)))
})

test('SIM: of many tenants, the picture of deadlines shows those with most, and says so', () => {
  const { byTenant, ...rest } = simulation.policies.settings
  const [one] = byTenant
  if (one === undefined) throw new Error('there is one')
  const many = Array.from({ length: 5_000 }, (_, i) => ({ ...one, tenant: `tenant ${i}`, deadlines: { decided: i + 1, met: i } }))
  const settings = { ...rest, byTenant: many }
  const texts = textsOf(picturesOf({ ...simulation, policies: { settings, fifo: settings, strict: settings } }).deadlines)
  expect(texts.filter((text) => text.startsWith('tenant '))).toEqual(Array.from({ length: 20 }, (_, i) => `tenant ${4_999 - i}`))
  expect(texts.some((text) => text.includes('of the 20 tenants with most'))).toBe(true)
})

test('SIM: names are escaped, and a scenario without tasks, tenants or deadlines has pictures, too', () => {
  const { series, ...rest } = simulation.policies.settings
  const name = '<b> & "c"\u0001'
  const odd: Simulation = { ...simulation, name, policies: { ...simulation.policies, settings: { ...rest, series: { ...series, waitingByTenant: series.waitingByTenant.map((band, i) => (i === 0 ? { ...band, tenant: name } : band)) } } } }
  const svg = picturesOf(odd)['waiting-by-tenant']
  expect(textsOf(svg)).toContain('<b> & "c"')
  const idle = readScenario({ duration: '90m', streams: [{ type: 'a', arrivals: { perHour: 0 }, duration: 1 }], agents: [{ name: 'x', count: 1 }] })
  if (idle._tag === 'Left') throw new Error('it is right')
  for (const picture of Object.values(picturesOf(simulate(idle.right)))) {
    parsed(picture)
    expect(picture).not.toMatch(/NaN|Infinity|undefined/)
  }
})

test('SIM: deadlines that are still to come are not told as none', () => {
  const scenario = readScenario({ duration: '1h', streams: [{ type: 'a', arrivals: { every: '10m' }, duration: 1, deadline: '5h' }], agents: [{ name: 'x', count: 1, types: ['b'] }] })
  if (scenario._tag === 'Left') throw new Error('it is right')
  expect(textsOf(picturesOf(simulate(scenario.right)).deadlines)).toContain('no deadline was met or missed by the end')
})

test('SIM: bands stand on each other in the order given, and take the height of their values', () => {
  const svg = timeChart({ title: 't', subtitle: 's', unit: 'u', pieceSeconds: 3_600, bands: [{ name: 'low', values: [10, 10, 10, 10] }, { name: 'high', values: [30, 30, 30, 30] }] })
  const paths = parsed(svg).filter(({ name }) => name === 'path').map(({ attributes: { d = '' } }) => [...d.matchAll(/[ML,]?(-?[\d.]+),(-?[\d.]+)/g)].map(([, , y]) => Number(y)))
  const [low, high] = paths.map((ys) => ({ top: Math.min(...ys), bottom: Math.max(...ys) }))
  expect(low?.top).toBeCloseTo(high?.bottom ?? 0, 1)
  expect(((high?.bottom ?? 0) - (high?.top ?? 0)) / ((low?.bottom ?? 0) - (low?.top ?? 0))).toBeCloseTo(3, 1)
})

test('SIM: marks stand where their values are', () => {
  const svg = rowChart({
    title: 't', subtitle: 's', saysHead: 'v', place: (value) => value / 100, ticks: [{ at: 0, label: '0' }, { at: 100, label: '100' }],
    groups: [{ name: 'g', rows: [{ name: 'r', isMain: true, says: '50', marks: [{ mark: 'dot', value: 50 }] }] }],
  })
  const elements = parsed(svg)
  const ticks = elements.filter(({ name, attributes }) => name === 'line' && attributes.class === 'grid').map(({ attributes }) => Number(attributes.x1))
  const dot = elements.find(({ name }) => name === 'circle')
  expect(Number(dot?.attributes.cx)).toBeCloseTo(((ticks[0] ?? 0) + (ticks[1] ?? 0)) / 2, 1)
})

test('SIM: a name of a group does not lie over the name of its first row', () => {
  const draw = (name: string) => {
    const elements = parsed(rowChart({
      title: 't', subtitle: 's', saysHead: 'v', place: (value) => value, ticks: [],
      groups: ['short', name].map((group) => ({ name: group, rows: ['these settings', 'FIFO'].map((row) => ({ name: row, isMain: true, says: '1', marks: [{ mark: 'dot' as const, value: 1 }] })) })),
    }))
    const at = (text: string) => elements.filter((each) => each.text === text).map(({ attributes: { y } }) => Number(y))
    return { at, height: Number(elements[0]?.attributes.height) }
  }
  const [few, many] = [draw('acme'), draw('a tenant with a long name')]
  expect(few.at('acme')).toEqual([few.at('these settings')[1]])
  for (const [i, name] of ['short', 'a tenant with a long name'].entries()) expect((many.at('these settings')[i] ?? 0) - (many.at(name)[0] ?? 0)).toBeGreaterThanOrEqual(15)
  expect(many.height - few.height).toBe(36)
  expect(many.at('FIFO')[0]).toBeLessThan((many.at('a tenant with a long name')[0] ?? 0) - 15)
})

test('SIM: ticks of time', () => {
  expect(clockTicks(86_400).map(({ label }) => label)).toEqual(['0:00', '3:00', '6:00', '9:00', '12:00', '15:00', '18:00', '21:00', '24:00'])
  expect(clockTicks(2 * 86_400).map(({ label }) => label)).toEqual(['0:00', '6:00', '12:00', '18:00', 'day 2', '6:00', '12:00', '18:00', 'day 3'])
  expect(clockTicks(31 * 86_400).length).toBeLessThanOrEqual(10)
  expect(lengthTicks(700).map(({ label }) => label)).toEqual(['0s', '1s', '10s', '1m', '10m', '1h'])
  // Whatever the length, the scale does not end before it.
  for (const days of [7, 8, 31, 400, 40_000]) expect(lengthTicks(days * 86_400).at(-1)?.at, `${days}d`).toBeGreaterThanOrEqual(days * 86_400)
  expect(lengthTicks(20 * 86_400).map(({ label }) => label)).toEqual(['0s', '1s', '10s', '1m', '10m', '1h', '6h', '1d', '7d', '30d'])
  expect([0, 0.25, 9.99, 59.7, 250, 3_900, 183_600].map(lengthText)).toEqual(['0s', '0.3s', '10s', '1m', '4m 10s', '1h 5m', '2d 3h'])
})

/** Contrast of two colours, as WCAG 2 has it. */
const contrast = (a: string, b: string): number => {
  const luminance = (hex: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16) / 255).map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const [light = 0, dark = 0] = [luminance(a), luminance(b)].sort((x, y) => y - x)
  return (light + 0.05) / (dark + 0.05)
}

test('SIM: texts have a contrast of 4.5 and marks one of 3, in light and in dark', () => {
  const svg = picturesOf(simulation).waits
  const style = parsed(svg).find(({ name }) => name === 'style')?.text ?? ''
  const [light = '', dark = ''] = style.split('@media')
  for (const theme of [light, dark]) {
    const fill = (name: string) => new RegExp(`\\.${name}\\{fill:(#[0-9a-f]{6})`).exec(theme)?.[1] ?? ''
    for (const name of ['text', 'quiet']) expect(contrast(fill(name), fill('ground')), name).toBeGreaterThanOrEqual(4.5)
    for (const name of ['accent', 'other']) expect(contrast(fill(name), fill('ground')), name).toBeGreaterThanOrEqual(3)
    for (let i = 0; i < 6; i++) expect(contrast(fill(`on${i}`), fill(`shade${i}`)), `on${i}`).toBeGreaterThanOrEqual(4.5)
  }
})
