import { shown, shownInLine, shownJson } from '@pitboss/contracts/acting-characters'

/** Where a command prints: its result to `stdout`, everything else to `stderr`. */
export type Print = { readonly stdout: (text: string) => void; readonly stderr: (text: string) => void }

export const toProcess: Print = {
  stdout: (text) => void process.stdout.write(text),
  stderr: (text) => void process.stderr.write(text),
}

/** How a command prints what it has read: nothing of it acts on the terminal. */
export function encoded({ stdout, stderr }: Print, json: boolean) {
  return {
    show: (value: unknown, text: string) => stdout(json ? `${shownJson(value)}\n` : `${shown(text)}\n`),
    note: (text: string) => stderr(`${shown(text)}\n`),
  }
}

/** The fields of a record, one a row. */
export function fieldTable(record: object): string {
  return textTable(Object.entries(record).map(([field, value]) => ({ field, value })))
}

/** Rows in aligned columns, the named ones or all; null shows as a dash. */
export function textTable(
  rows: readonly Readonly<Record<string, unknown>>[],
  named?: readonly string[],
): string {
  const [first] = rows
  if (first === undefined) return 'nothing'
  const columns = named ?? Object.keys(first)
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
  // a line break would forge a row
  return shownInLine(typeof value === 'string' ? value : JSON.stringify(value))
}

const lineEveryMs = 5000
const barCharacters = 24

export type Progress = {
  /** Shows how many of the total are done, with a remark. May be called often. */
  tell(done: number, text: string): void
  /** Leaves the terminal clean. */
  end(): void
}

/**
 * Progress on stderr: a bar on a terminal, a line every 5 s elsewhere. Without a known `total` the terminal
 * shows the text alone. Source: docs/contract.md, section 10.
 */
export function createProgress(
  total: number | null,
  stream: { write(text: string): unknown; isTTY?: boolean },
  now: () => number = () => performance.now(),
): Progress {
  const isTerminal = stream.isTTY === true
  let saidAtMs = now()
  return {
    tell(done, text) {
      if (isTerminal) {
        stream.write(`\r\u001b[K${total === null ? '' : `${barOf(done, total)} `}${text}`)
        return
      }
      if (now() - saidAtMs < lineEveryMs) return
      saidAtMs = now()
      stream.write(`${text}\n`)
    },
    end() {
      if (isTerminal) stream.write('\r\u001b[K')
    },
  }
}

function barOf(done: number, total: number): string {
  const share = total <= 0 ? 1 : Math.min(1, Math.max(0, done / total))
  const filled = Math.round(share * barCharacters)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  return `${'█'.repeat(filled)}${'░'.repeat(barCharacters - filled)}${percent}`
}
