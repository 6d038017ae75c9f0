/** SVG as text, without a DOM. */
type Value = string | number | undefined

/** At most two decimals, so that the same picture is the same text everywhere. */
export const rounded = (value: number): number => Math.round(value * 100) / 100

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
// eslint-disable-next-line no-control-regex -- XML has no form for these characters
const forbidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

/** A text as the content of an element. */
export const text = (content: string): string => content.toWellFormed().replace(forbidden, '').replace(/[&<>"']/g, (letter) => escapes[letter] as string)

/** An element. What is inside must be SVG already. */
export const element = (name: string, attributes: Readonly<Record<string, Value>>, ...inside: ReadonlyArray<string>): string => {
  const given = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === 'number' ? rounded(value) : text(String(value))}"`)
    .join('')
  return inside.length === 0 ? `<${name}${given}/>` : `<${name}${given}>${inside.join('')}</${name}>`
}
