// Creates a store in `dir`, appends to it, takes a snapshot, makes a data folder, and keeps an admin token. Prints when the store is open and when each step is done.
import { join } from 'node:path'
import { openTokens } from '@daybook/adapters/auth'
import { openEmbedded } from '@daybook/adapters/embedded'
import { openSnapshotFolder } from '@daybook/adapters/files'
import { openSqliteStore } from '@daybook/adapters/sqlite'

const { dir } = JSON.parse(process.argv[2])
const store = await openSqliteStore({ file: join(dir, 'new.daybook') })
process.stdout.write('opened\n')
await store.append('s', [{ id: 'a', type: 'T', data: '{}', metadata: '{}' }], 'no_stream')()
process.stdout.write('appended\n')
const snapshots = await openSnapshotFolder(join(dir, 'snapshots'))
const writer = await snapshots.create({ stream: 's', revision: 0, eventId: 'a', foldVersion: 1 })
for (let n = 0; n < 30; n++) await writer.page({ text: 'x'.repeat(100_000), rows: 0, numbers: new Float64Array(0) })
const kept = snapshots.rowStoreOf('s').keep(new Uint8Array(40_000), new Float64Array(512))
await writer.page({ text: '[]', rows: 0, numbers: new Float64Array(0), bytes: new Uint8Array(0), files: new Set([kept.place().file]) })
await writer.commit()
process.stdout.write('committed\n')
await store.close()
const embedded = await openEmbedded({ dataDir: join(dir, 'above', 'data') })
process.stdout.write('embedded\n')
await embedded.close()
openTokens({ dir: join(dir, 'tokens') }).keep()
process.stdout.write('kept\n')
