import { deserialize } from 'bson'
import type { BsonView } from './bson-view.ts'
import { fieldsOf } from './bson-view.ts'

/** One statement of a write command, as much of it as error details need. */
export type Statement = {
  document?: Record<string, unknown>
  filter?: Record<string, unknown>
  update?: unknown
}

type WriteCommand = { name: string; view: BsonView; sequences: ReadonlyMap<string, Buffer> }

export const statementsField: Record<string, string> = {
  insert: 'documents',
  update: 'updates',
  delete: 'deletes',
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** The statement with a number, parsed; null when the command has none of that number. */
export function statementAt(command: WriteCommand, number: number): Statement | null {
  const field = statementsField[command.name]
  if (field === undefined) {
    const { query, update } = command.view.parse()
    return { ...(isRecord(query) ? { filter: query } : {}), update }
  }
  const bytes = statementBytes(command, field, number)
  if (bytes === null) return null
  const parsed: Record<string, unknown> = deserialize(bytes, { promoteValues: false })
  if (command.name === 'insert') return { document: parsed }
  return { ...(isRecord(parsed.q) ? { filter: parsed.q } : {}), update: parsed.u }
}

function statementBytes({ view, sequences }: WriteCommand, field: string, number: number): Buffer | null {
  const sequence = sequences.get(field)
  if (sequence !== undefined) return documentAt(sequence, number)
  const array = view.embedded(field)
  if (array === null) return null
  let at = 0
  for (const element of fieldsOf(array)) {
    if (at++ === number) return array.subarray(element.valueAt, element.end)
  }
  return null
}

function documentAt(sequence: Buffer, number: number): Buffer | null {
  let at = 0
  for (let skipped = 0; skipped < number && at < sequence.length; skipped++) at += sequence.readInt32LE(at)
  return at < sequence.length ? sequence.subarray(at, at + sequence.readInt32LE(at)) : null
}

/** Whether a write command has exactly one statement, judged by its bytes. */
export function isSingleStatement(command: WriteCommand): boolean {
  const field = statementsField[command.name]
  if (field === undefined) return true
  const sequence = command.sequences.get(field)
  if (sequence !== undefined) return sequence.length >= 5 && sequence.readInt32LE(0) === sequence.length
  const array = command.view.embedded(field)
  if (array === null) return false
  const elements = fieldsOf(array)
  return elements.next().done === false && elements.next().done === true
}
