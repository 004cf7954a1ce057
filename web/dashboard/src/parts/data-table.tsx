import type { ReactNode } from 'react'
import { Link } from 'wouter'

export type Column<Row> = {
  readonly title: string
  readonly cell: (row: Row) => ReactNode
  /** Amounts and counts stand at the right. */
  readonly number?: boolean
}

type DataTableProps<Row> = {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly keyOf: (row: Row) => string
  /** The page of the row; the first cell is its link, which covers the row. */
  readonly hrefOf?: (row: Row) => string
}

/**
 * A table whose rows are links. On narrow screens each row is a card; the roles keep the table a table for
 * screen readers there, too.
 */
export function DataTable<Row>({ label, rows, columns, keyOf, hrefOf }: DataTableProps<Row>) {
  return (
    <table className="data" aria-label={label} role="table">
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ title, number = false }) => (
            <th key={title} role="columnheader" scope="col" data-number={number}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr
            key={keyOf(row)}
            role="row"
            data-link={hrefOf !== undefined}
            data-id={hrefOf === undefined ? undefined : keyOf(row)}
          >
            {columns.map(({ title, cell, number = false }, at) => (
              <td key={title} role="cell" data-label={title} data-number={number}>
                {at === 0 && hrefOf !== undefined ? <Link href={hrefOf(row)}>{cell(row)}</Link> : cell(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}
