/** The dependencies of the task, and the tasks that wait for it. */
import type { TaskPage, TaskView } from '@daybook/client'
import { queueLink } from '../../address/address.js'
import { tenantAsked } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { StatusMark } from '../../parts/status.js'

/** The largest number of tasks that are drawn on each side. A list shows the others. */
const drawnMax = 12
const rowHeight = 44

export const Neighbours = ({ queue, task }: { readonly queue: string; readonly task: TaskView }) => {
  const { id, dependencies, status, tenant } = task
  const after = useQueue<TaskPage>(queue, ['tasks'], { query: { waitsFor: id, limit: String(drawnMax + 1), ...(tenantAsked.value === undefined || tenant === undefined ? {} : { tenant }) } })
  const dependents = after.value?.tasks ?? []
  const before = dependencies.slice(0, drawnMax)
  const rows = Math.max(before.length, Math.min(dependents.length, drawnMax), 1)
  const place = (index: number, of: number): number => ((rows - of) / 2 + index + 0.5) * rowHeight
  return (
    <section aria-labelledby="neighbours">
      <h2 id="neighbours">Depends on, and waited for</h2>
      {dependencies.length === 0 && dependents.length === 0 ? <p class="quiet">It depends on no task, and no task depends on it.</p> : (
        <div class="neighbours" style={{ height: `${rows * rowHeight}px` }}>
          <svg aria-hidden="true" preserveAspectRatio="none" viewBox={`0 0 100 ${rows * rowHeight}`}>
            {before.map((each, i) => <path key={each} d={`M31 ${place(i, before.length)}C35 ${place(i, before.length)} 34 ${(rows * rowHeight) / 2} 37 ${(rows * rowHeight) / 2}`} />)}
            {dependents.slice(0, drawnMax).map((each, i, all) => <path key={each.id} d={`M63 ${(rows * rowHeight) / 2}C66 ${(rows * rowHeight) / 2} 65 ${place(i, all.length)} 69 ${place(i, all.length)}`} />)}
          </svg>
          <ul aria-label="depends on">{before.map((each) => <li key={each}><Dependency queue={queue} id={each} /></li>)}</ul>
          <p><span class="node here"><StatusMark status={status} /> <span>{id}</span></span></p>
          <ul aria-label="waits for it">{dependents.slice(0, drawnMax).map((each) => <li key={each.id}><a class="node" href={queueLink(queue, 'tasks', each.id)} title={`${each.id}, ${each.status}`}><StatusMark status={each.status} /> <span>{each.id}</span></a></li>)}</ul>
        </div>
      )}
      {(dependencies.length > drawnMax || dependents.length > drawnMax) && <p class="quiet">{dependencies.length > drawnMax && `It depends on ${dependencies.length} tasks, of which ${drawnMax} are drawn. `}{dependents.length > drawnMax && `More than ${drawnMax} tasks wait for it.`}</p>}
    </section>
  )
}

/** The queue may no longer know a dependency that was finished long ago. */
const Dependency = ({ queue, id }: { readonly queue: string; readonly id: string }) => {
  const { value } = useQueue<TaskView>(queue, ['tasks', id])
  return <a class="node" href={queueLink(queue, 'tasks', id)} title={value === undefined ? id : `${id}, ${value.status}`}>{value !== undefined && <StatusMark status={value.status} />} <span>{id}</span></a>
}
