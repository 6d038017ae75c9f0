/** A table. If it does not fit, it scrolls sideways within itself, so that the page never does. */
import type { ComponentChildren } from 'preact'

export interface Column<Row> {
  readonly key: string
  readonly title: string
  readonly cell: (row: Row) => ComponentChildren
  /** Numbers are aligned to the right. Default: text. */
  readonly kind?: 'text' | 'number'
  /** Makes the title a button. */
  readonly sort?: { readonly order: 'ascending' | 'descending' | 'none'; readonly toggle: () => void }
}

export interface DataTableProps<Row> {
  /** The content of the table, for screen readers. */
  readonly caption: string
  readonly columns: ReadonlyArray<Column<Row>>
  readonly rows: ReadonlyArray<Row>
  readonly rowKey: (row: Row) => string
  readonly empty?: ComponentChildren
}

export const DataTable = <Row,>({ caption, columns, rows, rowKey, empty }: DataTableProps<Row>) => (
  <div class="table-frame" tabIndex={0} role="region" aria-label={caption}>
    <table>
      <caption class="hidden">{caption}</caption>
      <thead>
        <tr>
          {columns.map(({ key, title, kind, sort }) => (
            <th key={key} scope="col" class={kind} aria-sort={sort?.order}>
              {sort === undefined ? title : <button type="button" class="plain" onClick={sort.toggle}>{title} {sort.order === 'ascending' ? '↑' : sort.order === 'descending' ? '↓' : ''}</button>}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map(({ key, kind, cell }) => <td key={key} class={kind}>{cell(row)}</td>)}
          </tr>
        ))}
        {rows.length === 0 && <tr><td colSpan={columns.length} class="quiet">{empty ?? 'nothing'}</td></tr>}
      </tbody>
    </table>
  </div>
)
