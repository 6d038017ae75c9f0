/** One group: its failure, the decisions for the whole group, and its tasks. */
import type { FailurePattern, TaskPage, TaskView } from '@daybook/client'
import { useState } from 'preact/hooks'
import { go, momentShown, queueLink, withQuery } from '../../address/address.js'
import { may, tenantAsked } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { AskingButton } from '../../parts/asking-button.js'
import { DataTable } from '../../parts/data-table.js'
import { counted, numberText } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { Moment } from '../../parts/moment.js'
import { useKeys } from '../../parts/keys.js'
import { type GroupKey, shortSignature } from './group.js'
import { discardGroup, escalateGroup, retryGroup, snoozeGroup } from './reviews.js'

const pageTasks = 50

export interface GroupViewProps {
  readonly queue: string
  readonly group: GroupKey
  /** `undefined` if none are left. */
  readonly pattern: FailurePattern | undefined
}

export const GroupView = ({ queue, group, pattern }: GroupViewProps) => {
  const { type, signature } = group
  const all = withQuery({ signature: undefined, type: undefined })
  const canOperate = may.operate.value && may.seeAll.value && momentShown.value === undefined && pattern !== undefined
  useKeys([
    { keys: 'u', does: 'back to all groups', run: () => go(all) },
    ...(canOperate ? [{ keys: 'r', does: 'retry this group', run: () => document.getElementById('retry-group')?.click() }] : []),
  ])
  return (
    <>
      <p><a href={all}>← all groups</a></p>
      {pattern === undefined ? (
        <p>No dead letter of type <code>{type}</code> has the signature <code>{shortSignature(signature)}</code> any more.</p>
      ) : (
        <section class="panel" aria-label="The group">
          <h2 class="sample">{pattern.sample === '' ? 'no error was given' : pattern.sample}</h2>
          <p class="quiet">
            <strong>{counted(pattern.count, 'dead letter')}</strong> of type <code>{type}</code>{pattern.phase !== undefined && <> in phase {pattern.phase}</>}, first <Moment at={pattern.firstAt} />, last <Moment at={pattern.lastAt} />. Signature <code title={signature}>{shortSignature(signature)}</code>: numbers, ids and paths in the error are left out of it.
          </p>
          {canOperate && (
            <p class="bar">
              <AskingButton id="retry-group" primary action={() => retryGroup(queue, group)}>Retry …</AskingButton>
              <AskingButton action={() => snoozeGroup(queue, group)}>Snooze …</AskingButton>
              <AskingButton action={() => escalateGroup(queue, group)}>Escalate …</AskingButton>
              <AskingButton action={() => discardGroup(queue, group)}>Discard …</AskingButton>
            </p>
          )}
        </section>
      )}
      {pattern !== undefined && <Tasks queue={queue} group={group} />}
    </>
  )
}

const Tasks = ({ queue, group: { type, signature } }: { readonly queue: string; readonly group: GroupKey }) => {
  // The cursors of the pages before this one.
  const [cursors, setCursors] = useState<ReadonlyArray<string>>([])
  const cursor = cursors.at(-1)
  const shown = useQueue<TaskPage>(queue, ['dead-letters'], { query: { signature, type, limit: String(pageTasks), ...(tenantAsked.value === undefined ? {} : { tenant: tenantAsked.value }), ...(cursor === undefined ? {} : { cursor }) } })
  return (
    <Loaded shown={shown} lines={8}>
      {({ tasks, nextCursor }) => (
        <>
          <DataTable<TaskView>
            caption="Dead letters of this group" rows={tasks} rowKey={({ id }) => id} empty="No tasks here."
            columns={[
              { key: 'id', title: 'Task', cell: ({ id, number, description }) => <><a href={queueLink(queue, 'tasks', id)}>{id}</a> <span class="quiet">#{number}</span>{description !== undefined && <div class="quiet">{description}</div>}</> },
              { key: 'at', title: 'Since', cell: ({ deadLetter }) => (deadLetter === undefined ? '' : <Moment at={deadLetter.at} />) },
              { key: 'attempts', title: 'Attempts', kind: 'number', cell: ({ attempts }) => attempts },
              { key: 'tenant', title: 'Tenant', cell: ({ tenant }) => tenant ?? '' },
              { key: 'error', title: 'Last error', cell: ({ lastError }) => <span class="error">{lastError ?? ''}</span> },
              { key: 'notes', title: 'Notes', cell: ({ deadLetter }) => <Notes deadLetter={deadLetter} /> },
            ]}
          />
          <p class="bar">
            {cursors.length > 0 && <button type="button" onClick={() => setCursors(cursors.slice(0, -1))}>← Earlier in the list</button>}
            {nextCursor !== null && nextCursor !== undefined && <button type="button" onClick={() => setCursors([...cursors, nextCursor])}>Later in the list →</button>}
          </p>
        </>
      )}
    </Loaded>
  )
}

const holdsUpText = ({ dependents, inLine }: NonNullable<NonNullable<TaskView['deadLetter']>['holdsUp']>): string =>
  `holds up ${[...(dependents === 0 ? [] : [counted(dependents, 'dependent')]), ...(inLine === 0 ? [] : [`${numberText(inLine)} in its line`])].join(' and ')}`

const Notes = ({ deadLetter }: { readonly deadLetter: TaskView['deadLetter'] | undefined }) => (
  <>
    {deadLetter?.holdsUp !== undefined && <div>{holdsUpText(deadLetter.holdsUp)}</div>}
    {deadLetter?.snoozedUntil !== undefined && <div>goes back <Moment at={deadLetter.snoozedUntil} /></div>}
    {deadLetter?.escalated !== undefined && <div>{deadLetter.escalated.reviewer}: {deadLetter.escalated.reason}</div>}
  </>
)
