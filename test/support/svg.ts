/** Pictures in tests, read by a strict parser of XML. */
import { SaxesParser } from 'saxes'

export interface Element {
  readonly name: string
  readonly attributes: Readonly<Record<string, string>>
  text: string
}

/** The elements. Throws if the picture is not well-formed. */
export const parsed = (svg: string): ReadonlyArray<Element> => {
  const elements: Array<Element> = []
  const open: Array<Element> = []
  const parser = new SaxesParser()
  parser.on('error', (error) => {
    throw error
  })
  parser.on('opentag', ({ name, attributes }) => {
    const element = { name, attributes: attributes as Record<string, string>, text: '' }
    elements.push(element)
    open.push(element)
  })
  parser.on('text', (text) => {
    const element = open[open.length - 1]
    if (element !== undefined) element.text += text
  })
  parser.on('closetag', () => void open.pop())
  parser.write(svg).close()
  return elements
}
export const textsOf = (svg: string): ReadonlyArray<string> => parsed(svg).filter(({ name }) => name === 'text').map(({ text }) => text)
