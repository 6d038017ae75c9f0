/** Every setting of a queue beside its default, and changing it. */
import type { Settings } from '@daybook/core'
import { address, momentShown, withQuery } from '../../address/address.js'
import { command, revisionOf } from '../../api/command.js'
import { may } from '../../api/session.js'
import { useQueue } from '../../api/use-query.js'
import { type Action, ActionButton } from '../../parts/action.js'
import { DataTable } from '../../parts/data-table.js'
import { counted } from '../../parts/format.js'
import { Loaded } from '../../parts/loaded.js'
import { StatusMark } from '../../parts/status.js'
import type { PageParams } from '../page-params.js'
import { byDefaultOf } from './by-default.js'
import { at, isSame, leavesOf, type Path, patchAt, valueOf } from './paths.js'
import { choicesOf, meaningOf, secondsText } from './meanings.js'

interface Row {
  readonly path: Path
  readonly name: string
  readonly value: unknown
  readonly byDefault: unknown
}

const rowsOf = (settings: Settings): ReadonlyArray<Row> =>
  leavesOf(settings as unknown as Readonly<Record<string, unknown>>).map(([path, value]) => ({ path, name: path.join('.'), value, byDefault: at(byDefaultOf(), path) }))
const isChanged = ({ value, byDefault }: Row): boolean => !isSame(value, byDefault)

export const SettingsPage = ({ params: { queue = '' } }: { readonly params: PageParams }) => {
  const shown = useQueue<Settings>(queue, ['settings'])
  const onlyChanged = address.value.query['only'] === 'changed'
  const canChange = may.operate.value && momentShown.value === undefined
  return (
    <>
      <header class="title">
        <h1>Settings</h1>
        {canChange && <ActionButton action={() => addOne(queue)}>Add a breaker override …</ActionButton>}
      </header>
      <Loaded shown={shown} lines={12}>
        {(settings) => {
          const rows = rowsOf(settings)
          const changed = rows.filter(isChanged)
          return (
            <>
              <p class="bar">
                <a href={withQuery({ only: undefined })} aria-current={onlyChanged ? undefined : 'true'}>all {rows.length}</a>
                <a href={withQuery({ only: 'changed' })} aria-current={onlyChanged ? 'true' : undefined}>{counted(changed.length, 'that differs', 'that differ')} from the default</a>
              </p>
              <DataTable<Row>
                caption="Settings" rows={onlyChanged ? changed : rows} rowKey={({ name }) => name} empty={`All ${counted(rows.length, 'setting')} are as they come.`}
                columns={[
                  { key: 'name', title: 'Setting', cell: ({ name, path }) => <><code>{name}</code>{meaningOf(path) !== undefined && <div class="quiet">{meaningOf(path)}</div>}</> },
                  { key: 'value', title: 'Value', cell: (row) => <>{isChanged(row) ? <strong class="changed"><StatusMark status="pending" /> {textOf(row.value)}</strong> : textOf(row.value)} <InWords path={row.path} value={row.value} /></> },
                  { key: 'default', title: 'Default', cell: ({ path, byDefault }) => <span class="quiet">{byDefault === undefined ? 'not there' : textOf(byDefault)} <InWords path={path} value={byDefault} /></span> },
                  ...(canChange ? [{ key: 'act', title: 'Action', cell: (row: Row) => <ActionButton action={() => change(queue, row)}>Change<span class="hidden"> {row.name}</span> …</ActionButton> }] : []),
                ]}
              />
            </>
          )
        }}
      </Loaded>
    </>
  )
}

/** A long time, as people say it. */
const InWords = ({ path, value }: Pick<Row, 'path' | 'value'>) => {
  const text = secondsText(path, value)
  return text === undefined ? null : <span class="quiet">({text})</span>
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** An override, a weight or an added rule can be removed; all other settings can only be set. */
const isRemovable = ([first, second, third]: Path): boolean =>
  (first === 'breakers' && second === 'overrides') || (first === 'assignment' && second === 'tenants' && third !== 'default') || (first === 'discoveries' && second !== undefined)

const change = (queue: string, { path, name, value, byDefault }: Row): Action => {
  const choices = choicesOf(path, value)
  return {
    title: `Change ${name}`,
    does: <p>{meaningOf(path) ?? 'It holds for what is decided from now on.'} Its default is {byDefault === undefined ? 'not to be there' : textOf(byDefault)}. The event keeps who changed it, and both values.</p>,
    verb: 'Change it',
    reason: 'none',
    fields: [{ name: 'value', label: 'Value', value: textOf(value), ...(choices === undefined ? { kind: typeof value === 'number' ? 'number' : 'text' } : { kind: 'choice', choices }), ...(isRemovable(path) ? { hint: 'Empty: it is taken away.' } : { required: true }) }],
    run: async ({ fields }) => {
      const given = fields['value'] ?? ''
      const removed = given === '' && isRemovable(path)
      // An override is removed as a whole.
      const patch = removed ? patchAt(path[0] === 'breakers' ? path.slice(0, 3) : path[0] === 'discoveries' ? path.slice(0, 2) : path, null) : patchAt(path, valueOf(given, value))
      return { said: removed ? `${name} is taken away.` : `${name} is ${given}.`, queue, ...revisionOf(await command('PATCH', queue, ['settings'], patch)) }
    },
  }
}

const addOne = (queue: string): Action => ({
  title: 'Breaker of one type',
  does: <p>What it says holds for this type in place of <code>breakers.defaults</code>.</p>,
  verb: 'Add it',
  reason: 'none',
  fields: [
    { name: 'type', label: 'Type', kind: 'text', required: true },
    { name: 'failureThreshold', label: 'Failures in a row that open it', kind: 'number', value: '5', required: true },
  ],
  run: async ({ fields: { type = '', failureThreshold } }) => ({
    said: `The breaker of ${type} opens after ${counted(Number(failureThreshold), 'failure')}.`,
    queue,
    ...revisionOf(await command('PATCH', queue, ['settings'], { breakers: { overrides: { [type]: { failureThreshold: Number(failureThreshold) } } } })),
  }),
})
