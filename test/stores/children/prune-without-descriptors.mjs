/** Takes a snapshot while this process may open only a few more files. Prints the files that are there afterwards. */
import { closeSync, openSync, readdirSync } from 'node:fs'
import { openSnapshotFolder } from '@daybook/adapters/files'

const { dir, snapshots } = JSON.parse(process.argv[2])
const store = await openSnapshotFolder(dir)
const take = async (revision) => {
  const writer = await store.create({ stream: 's', revision, eventId: 'e', foldVersion: 1 })
  await writer.page({ kind: 'head', text: '{}', rows: 0, numbers: new Float64Array(0) })
  await writer.commit()
}
for (let revision = 1; revision < snapshots; revision++) await take(revision)
const taken = []
try {
  for (;;) taken.push(openSync('/dev/null'))
} catch {
  // A few are left for the snapshot itself.
  for (const descriptor of taken.splice(0, 5)) closeSync(descriptor)
}
await take(snapshots)
for (const descriptor of taken) closeSync(descriptor)
process.stdout.write(`${JSON.stringify(readdirSync(dir).sort())}\n`)
