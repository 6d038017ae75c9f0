/** docs/reports.md names every column of every report. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readReport, readReportRequest } from '@daybook/adapters/reports'
import { reportNames } from '@daybook/projections/reports'
import * as E from 'fp-ts/lib/Either.js'
import { expect, test } from 'vitest'
import { root } from '../cli/program.js'
import { openViews } from '../read-models/views.js'

test('EV-05: docs/reports.md has all reports, and all columns of each', async () => {
  const page = await readFile(join(root, 'docs/reports.md'), 'utf8')
  const dir = await mkdtemp(join(tmpdir(), 'daybook-reports-docs-'))
  try {
    const file = join(dir, 'views.db')
    const views = openViews(file)
    views.beginFirstBuilds([])
    views.close()
    for (const report of reportNames) {
      const [line = ''] = new RegExp(`^\\| \`${report}\` \\|.*$`, 'm').exec(page) ?? []
      const request = readReportRequest('q', report, { format: 'csv' }, 0)
      const answer = E.isRight(request) ? readReport(file, request.right) : undefined
      if (answer === undefined || E.isLeft(answer)) throw new Error(`no report ${report}`)
      const columns = (answer.right.text.split('\r\n')[0] ?? '').split(',').filter((name) => !['from', 'to', 'tenant'].includes(name))
      expect(columns.length).toBeGreaterThan(2)
      for (const column of columns) expect(line, `${report}: ${column}`).toContain(`\`${column}\``)
    }
  } finally {
    await rm(dir, { recursive: true, force: true })
  }
})
