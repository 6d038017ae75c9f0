// Opens the store, prints `open` or `refused <code>`, and runs until its input ends.
import { openSqliteStore } from '@daybook/adapters/sqlite'

const store = await openSqliteStore(JSON.parse(process.argv[2])).catch((error) => {
  process.stdout.write(`refused ${error.code}\n`)
})
if (store !== undefined) {
  process.stdout.write('open\n')
  process.stdin.resume()
  await new Promise((resolve) => process.stdin.once('end', resolve))
  await store.close()
}
