import { csvField } from '@pitboss/contracts/csv-field'

/** Rows as CSV after RFC 4180, formula-safe. */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(csvField).join(',')}\r\n`).join('')
}

/**
 * The cells of a table as they stand on the screen, a time as its exact instant, followed by the time in
 * `zone` where that is not UTC; rows that are links end with their id. Columns of buttons are left out.
 */
export function cellsOf(table: HTMLTableElement, zone: string): string[][] {
  const head = [...(table.tHead?.rows[0]?.cells ?? [])]
  const body = [...(table.tBodies[0]?.rows ?? [])]
  const shown = head.flatMap((_cell, at) =>
    body.some((row) => row.cells[at]?.querySelector('button')) ? [] : [at],
  )
  const hasIds = body.some(({ dataset }) => dataset.id !== undefined)
  const timed = new Set(
    zone === 'UTC' ? [] : shown.filter((at) => body.some((row) => timeOf(row.cells[at]) !== null)),
  )
  const texts = (cells: Iterable<HTMLTableCellElement>, local: (cell: HTMLTableCellElement) => string) => {
    const all = [...cells]
    return shown.flatMap((at) => {
      const cell = all[at]
      if (cell === undefined) return timed.has(at) ? ['', ''] : ['']
      return timed.has(at) ? [textOfCell(cell), local(cell)] : [textOfCell(cell)]
    })
  }
  return [
    [...texts(head, (cell) => `${textOfCell(cell)} (${zone})`), ...(hasIds ? ['Id'] : [])],
    ...body.map((row) => [
      ...texts(row.cells, (cell) => timeOf(cell)?.title ?? ''),
      ...(hasIds ? [row.dataset.id ?? ''] : []),
    ]),
  ]
}

function timeOf(cell: HTMLTableCellElement | undefined): HTMLTimeElement | null {
  return cell?.querySelector('time') ?? null
}

function textOfCell(cell: HTMLTableCellElement): string {
  const time = timeOf(cell)
  if (time !== null) return time.dateTime
  const items = [...cell.querySelectorAll('li, p')].map((item) => item.textContent.trim())
  const text = items.length > 0 ? items.join('; ') : cell.textContent.trim()
  return text === '–' ? '' : text
}
