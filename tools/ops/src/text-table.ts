/** Rows in aligned columns; null shows as a dash. */
export function textTable(rows: readonly Readonly<Record<string, unknown>>[]): string {
  const [first] = rows
  if (first === undefined) return 'nothing'
  const columns = Object.keys(first)
  const cells = rows.map((row) => columns.map((column) => cellText(row[column])))
  const widths = columns.map((column, index) =>
    Math.max(column.length, ...cells.map((line) => line[index]?.length ?? 0)),
  )
  const lineOf = (texts: readonly string[]) =>
    texts
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd()
  return [lineOf(columns), ...cells.map(lineOf)].join('\n')
}

function cellText(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return typeof value === 'string' ? value : JSON.stringify(value)
}
