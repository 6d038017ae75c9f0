/** EV-05: CSV that no spreadsheet takes for formulas, and that reads back as it was. */
import { csvCell, reportCsv } from '@daybook/projections/reports'
import fc from 'fast-check'
import { expect, test } from 'vitest'

/** Cells of one line, as RFC 4180 has them. */
const cellsOf = (line: string): ReadonlyArray<string> => {
  const cells: Array<string> = []
  let [cell, isQuoted] = ['', false]
  for (let i = 0; i < line.length; i++) {
    const letter = line[i] as string
    if (isQuoted && letter === '"' && line[i + 1] === '"') cell += line[i++] as string
    else if (letter === '"') isQuoted = !isQuoted
    else if (letter === ',' && !isQuoted) {
      cells.push(cell)
      cell = ''
    } else cell += letter
  }
  return [...cells, cell]
}
const calculates = /^[\s\0]*[=+\-@＝＋－＠|%\t\r\n]/

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', ' =1', '  @x', '＝1', '＋1', '－1', '＠x', '=cmd|\' /C calc\'!A0', '=HYPERLINK("http://evil","x")', '|calc', '%0A=1', '\u0000=1', '\u00a0=1', '\ufeff=1'])(
  'EV-05: %j is a text',
  (text) => {
    const [cell = ''] = cellsOf(csvCell(text))
    expect(cell).not.toMatch(calculates)
    expect([text, `'${text}`]).toContain(cell)
  },
)

test('EV-05: any text is one cell, begins with nothing that calculates, and is as it was', () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: fc.constantFrom('=', '+', '-', '@', '"', ',', '\n', '\r', '\t', ' ', "'", 'a', ';', '＝', '\0') }))
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 4 }), (texts) => {
      const cells = cellsOf(texts.map(csvCell).join(','))
      expect(cells).toHaveLength(texts.length)
      cells.forEach((cell, i) => {
        expect([texts[i], `'${texts[i]}`]).toContain(cell)
        expect(cell).not.toMatch(calculates)
      })
    }),
    { numRuns: 1_000 },
  )
})

test('EV-05: figures stay numbers, nothing is an empty cell, and others stand where their name would be', () => {
  const columns = ['from', 'tenant', 'claimed', 'ratio'].map((name) => ({ name, about: '' }))
  const rows = [{ from: 'x', tenant: 'a,"b"', claimed: 1_200, ratio: 0.5 }, { from: 'x', tenant: null, claimed: -3, ratio: null }, { from: 'x', tenant: null, others: 7, claimed: 4, ratio: null }]
  expect(reportCsv({ columns, rows })).toBe('from,tenant,claimed,ratio\r\nx,"a,""b""",1200,0.5\r\nx,,-3,\r\nx,7 others,4,\r\n')
})
