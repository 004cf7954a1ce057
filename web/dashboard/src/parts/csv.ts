/** Characters with which a spreadsheet begins a formula. */
const formula = /^[=+\-@\t\r]/
const number = /^-?\d+(\.\d+)?$/

/** One field: no spreadsheet takes it for a formula; quoted where it must be. */
function csvField(text: string): string {
  const safe = formula.test(text) && !number.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Rows as CSV after RFC 4180, formula-safe. */
export function csvText(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(csvField).join(',')}\r\n`).join('')
}

/**
 * The cells of a table as they stand on the screen, a time as its exact instant; rows that are links end with
 * their id. Columns of buttons are left out.
 */
export function cellsOf(table: HTMLTableElement): string[][] {
  const head = [...(table.tHead?.rows[0]?.cells ?? [])]
  const body = [...(table.tBodies[0]?.rows ?? [])]
  const shown = head.flatMap((_cell, at) =>
    body.some((row) => row.cells[at]?.querySelector('button')) ? [] : [at],
  )
  const hasIds = body.some(({ dataset }) => dataset.id !== undefined)
  const textsOf = (cells: Iterable<HTMLTableCellElement>) => {
    const all = [...cells]
    return shown.map((at) => textOfCell(all[at]))
  }
  return [
    [...textsOf(head), ...(hasIds ? ['Id'] : [])],
    ...body.map((row) => [...textsOf(row.cells), ...(hasIds ? [row.dataset.id ?? ''] : [])]),
  ]
}

function textOfCell(cell: HTMLTableCellElement | undefined): string {
  const time = cell?.querySelector('time')
  if (time !== null && time !== undefined) return time.dateTime
  const items = [...(cell?.querySelectorAll('li') ?? [])].map((item) => item.textContent.trim())
  const text = items.length > 0 ? items.join('; ') : (cell?.textContent.trim() ?? '')
  return text === '–' ? '' : text
}
