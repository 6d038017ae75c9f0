// node scratch.mjs file ms callers mode
import { createDaybook, prepareTask } from '@daybook/adapters/engine'
import { openSqliteStore } from '@daybook/adapters/sqlite'
const [file, ms, callers, sharing] = process.argv.slice(2)
const store = await openSqliteStore({ file, sharing })
const daybook = createDaybook({ store, warn: (m) => console.error(process.pid, m) })
await daybook.ready
const engine = await daybook.open('q')
let done = 0, stop = false, worst = 0
const me = `p${process.pid}`
const caller = async (n) => {
  for (let i = 0; !stop; i++) {
    const t0 = performance.now()
    const id = `${me}-${n}-${i}`
    const t = prepareTask({ id, type: 'a', payload: { n, i } })
    const e = await engine.submit({ type: 'Enqueue', tasks: [t.right] }, { actor: 'x' })
    if (e._tag === 'Left') { console.error(e.left); continue }
    const c = await engine.claim({ type: 'Claim', agent: me + n, max: 1 }, { actor: 'x' }, { waitMs: 0 })
    if (c._tag === 'Left') { console.error(c.left); continue }
    for (const h of c.right.value) {
      const o = await engine.submit({ type: 'Complete', task: h.task, agent: me + n, token: h.token, content: '{}', hasReport: true }, { actor: 'x' })
      if (o._tag === 'Left') console.error(o.left); else 0
    }
    done++; worst = Math.max(worst, performance.now() - t0)
  }
}
const began = performance.now()
setTimeout(() => (stop = true), Number(ms))
await Promise.all(Array.from({ length: Number(callers) }, (_, n) => caller(n)))
const s = (performance.now() - began) / 1000
console.log(me, 'lives/s', Math.round(done / s), 'worst ms', Math.round(worst), 'conflicts', engine.status().conflicts, 'rev', engine.status().revision)
process.exit(0)
