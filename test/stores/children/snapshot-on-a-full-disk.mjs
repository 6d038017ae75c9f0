/** Writes a snapshot to `dir` page by page, and prints how far it got and which files are left. */
import { readdirSync } from 'node:fs'
import { openSnapshotFolder } from '@daybook/adapters/files'

const { dir, pages } = JSON.parse(process.argv[2])
const store = await openSnapshotFolder(dir)
const writer = await store.create({ stream: 's', revision: 1, eventId: 'e', foldVersion: 1 })
const page = { text: 'x'.repeat(100_000), rows: 0, numbers: new Float64Array(0) }
let written = 0
let failed = ''
try {
  for (; written < pages; written++) await writer.page(page)
  await writer.commit()
} catch (error) {
  failed = error.code
}
process.stdout.write(`${JSON.stringify({ written, failed, left: readdirSync(dir) })}\n`)
