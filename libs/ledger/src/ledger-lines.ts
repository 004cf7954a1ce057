import { invalidField } from '@pitboss/errors/service-error'
import { z } from 'zod'

/** A line of an operator's ledger, or why it cannot be read; counted from 1, a CSV's heading included. */
export type LedgerLine =
  | { readonly ok: true; readonly line: number; readonly row: LedgerRow }
  | { readonly ok: false; readonly line: number; readonly message: string }

export type LedgerRow = z.infer<typeof rowSchema>

const lineCharactersMax = 8192
const linesMax = 2_000_000

const field = (charactersMax: number) => z.string().min(1).max(charactersMax)
/** Further fields of the operator's own ledger do no harm. */
const rowSchema = z.object({
  transaction_id: field(128),
  type: field(16),
  amount: field(40),
  currency: field(8),
  player_id: field(128)
    .nullish()
    .transform((text) => text ?? null),
})

export type LedgerFormat = 'json-lines' | 'csv'

/**
 * Reads a ledger line by line in bounded memory; empty lines are passed over.
 * @throws ServiceError VALIDATION_ERROR path `body`: a CSV without the wanted heading, a line or a body that
 * is too long.
 */
export async function* readLedger(
  bytes: AsyncIterable<Uint8Array>,
  format: LedgerFormat,
): AsyncGenerator<LedgerLine> {
  let heading: readonly string[] | null = null
  let line = 0
  for await (const text of readLines(bytes)) {
    line += 1
    if (line > linesMax) throw invalidField('body', `must not have more than ${linesMax} lines`)
    if (text.trim() === '') continue
    if (format === 'json-lines') yield parseRow(line, parseOrNull(text))
    else if (heading === null) heading = readHeading(text)
    else yield parseCsvRow(line, heading, text)
  }
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8')
  let rest = ''
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const text of lines) yield within(text)
    within(rest)
  }
  rest += decoder.decode()
  if (rest !== '') yield within(rest)
}

function within(text: string): string {
  if (text.length > lineCharactersMax) {
    throw invalidField('body', `must not have a line of more than ${lineCharactersMax} characters`)
  }
  return text
}

function readHeading(text: string): readonly string[] {
  const heading = splitCsv(text.replace(/\r$/, '')) ?? []
  for (const wanted of ['transaction_id', 'type', 'amount', 'currency']) {
    if (!heading.includes(wanted))
      throw invalidField('body', `must have the column ${wanted} in its first line`)
  }
  return heading
}

function parseCsvRow(line: number, heading: readonly string[], text: string): LedgerLine {
  const fields = splitCsv(text.replace(/\r$/, ''))
  if (fields === null || fields.length !== heading.length) {
    return { ok: false, line, message: 'has not as many fields as the first line' }
  }
  const row = Object.fromEntries(heading.map((name, column) => [name, fields[column]]))
  return parseRow(line, { ...row, player_id: row.player_id === '' ? null : row.player_id })
}

function parseRow(line: number, value: unknown): LedgerLine {
  const parsed = rowSchema.safeParse(value)
  if (parsed.success) return { ok: true, line, row: parsed.data }
  const issue = parsed.error.issues[0]
  const path = issue?.path.map(String).join('.') ?? ''
  return { ok: false, line, message: path === '' ? 'is not a JSON object' : `${path}: ${issue?.message}` }
}

/** The fields of one line; quoted ones may hold commas and doubled quotes. Null when quotes do not match. */
function splitCsv(text: string): string[] | null {
  const fields: string[] = []
  const pattern = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y
  for (;;) {
    const match = pattern.exec(text)
    if (match === null) return null
    fields.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? '')
    if (match[3] === '') return fields
  }
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
