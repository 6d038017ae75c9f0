// A broken server: it acknowledges at once and writes a minute later. A kill must reveal that.
const built = (name) => import(new URL(`../../support/eventstoredb/dist/eventstoredb/${name}.js`, import.meta.url).href)
const { openJournal } = await built('journal')
const { Log } = await built('log')
const { EventStoreServer } = await built('server')
const { Writer } = await built('writer')

const { dir } = JSON.parse(process.argv[2])
const log = new Log()
const journal = await openJournal(dir, log.restore)
const keep = (write, kept) => {
  kept()
  setTimeout(() => journal.keep(write, () => {}), 60_000).unref()
}
const store = { log, writer: new Writer(log, { keep }), onFatal: () => {}, close: journal.close }
const server = await EventStoreServer.start({ store })
process.stdout.write(`${server.url}\n`)
