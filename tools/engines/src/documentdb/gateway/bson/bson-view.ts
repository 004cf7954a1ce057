import { deserialize } from 'bson'
import { MongoError } from '../errors/mongo-error.ts'

/** One top-level field: where its element begins, where its value lies and what type it has. */
type Field = { name: string; type: number; elementAt: number; valueAt: number; end: number }

const bsonType = {
  double: 0x01,
  string: 0x02,
  document: 0x03,
  array: 0x04,
  binary: 0x05,
  bool: 0x08,
  int32: 0x10,
  int64: 0x12,
} as const

/**
 * The top-level fields of a BSON document without building objects of it. Commands pass through the gateway
 * as they came; only these few fields are looked at.
 */
export class BsonView {
  readonly bytes: Buffer
  readonly #fields = new Map<string, Field>()
  /** The first field: in a command its name says which one it is. */
  readonly first: Field | null

  constructor(bytes: Buffer) {
    this.bytes = bytes
    let first: Field | null = null
    for (let at = firstAt, end = bytes.length - 1; at < end; ) {
      const field = fieldAt(bytes, at, end)
      first ??= field
      if (!this.#fields.has(field.name)) this.#fields.set(field.name, field)
      at = field.end
    }
    this.first = first
  }

  has(name: string): boolean {
    return this.#fields.has(name)
  }

  names(): string[] {
    return [...this.#fields.keys()]
  }

  string(name: string): string | null {
    const field = this.#fields.get(name)
    if (field?.type !== bsonType.string) return null
    return this.bytes.toString('utf8', field.valueAt + 4, field.end - 1)
  }

  /** An integer of any numeric type; a fraction is cut. */
  integer(name: string): bigint | null {
    const field = this.#fields.get(name)
    if (field?.type === bsonType.int32) return BigInt(this.bytes.readInt32LE(field.valueAt))
    if (field?.type === bsonType.int64) return this.bytes.readBigInt64LE(field.valueAt)
    if (field?.type !== bsonType.double) return null
    const value = this.bytes.readDoubleLE(field.valueAt)
    return Number.isFinite(value) ? BigInt(Math.trunc(value)) : null
  }

  /** The truth of a boolean or number; null when absent or of another type. */
  boolean(name: string): boolean | null {
    const field = this.#fields.get(name)
    if (field?.type === bsonType.bool) return this.bytes.readUInt8(field.valueAt) !== 0
    const number = this.integer(name)
    return number === null ? null : number !== 0n
  }

  /** The bytes of a binary value, without length and subtype. */
  binary(name: string): Buffer | null {
    const field = this.#fields.get(name)
    return field?.type === bsonType.binary ? this.bytes.subarray(field.valueAt + 5, field.end) : null
  }

  /** The bytes of an embedded document or array. */
  embedded(name: string): Buffer | null {
    const field = this.#fields.get(name)
    if (field?.type !== bsonType.document && field?.type !== bsonType.array) return null
    return this.bytes.subarray(field.valueAt, field.end)
  }

  /** The same document without some fields, copied and not interpreted. */
  without(names: ReadonlySet<string>): Buffer {
    const kept = [...fieldsOf(this.bytes)].filter((field) => !names.has(field.name))
    const length = kept.reduce((sum, field) => sum + field.end - field.elementAt, 5)
    const copy = Buffer.alloc(length)
    let at = copy.writeInt32LE(length, 0)
    for (const field of kept) at += this.bytes.copy(copy, at, field.elementAt, field.end)
    return copy
  }

  /** The whole as objects: for the rare commands that the gateway answers itself, and for error details. */
  parse(): Record<string, unknown> {
    return deserialize(this.bytes, { promoteValues: false })
  }
}

/** Walks the elements of a document or array. @throws MongoError InvalidBSON when lengths do not fit. */
function* fieldsOf(bytes: Buffer): Generator<Field> {
  const end = bytes.length - 1
  for (let at = firstAt; at < end; ) {
    const field = fieldAt(bytes, at, end)
    yield field
    at = field.end
  }
}

/** After the document's length. */
const firstAt = 4

/** @param end where the document ends with its zero */
function fieldAt(bytes: Buffer, elementAt: number, end: number): Field {
  let nameEnd = elementAt + 1
  while (nameEnd < end && bytes[nameEnd] !== 0) nameEnd++
  if (nameEnd >= end) throw invalid()
  const type = bytes.readUInt8(elementAt)
  const valueAt = nameEnd + 1
  const next = valueAt + valueBytes(bytes, type, valueAt, end)
  if (next > end) throw invalid()
  return { name: bytes.toString('latin1', elementAt + 1, nameEnd), type, elementAt, valueAt, end: next }
}

const fixedBytes = new Map([
  [0x01, 8],
  [0x06, 0],
  [0x07, 12],
  [0x08, 1],
  [0x09, 8],
  [0x0a, 0],
  [0x10, 4],
  [0x11, 8],
  [0x12, 8],
  [0x13, 16],
  [0x7f, 0],
  [0xff, 0],
])

function valueBytes(bytes: Buffer, type: number, at: number, end: number): number {
  const fixed = fixedBytes.get(type)
  if (fixed !== undefined) return fixed
  if (type === 0x0b) {
    const patternEnd = bytes.indexOf(0, at)
    const optionsEnd = bytes.indexOf(0, patternEnd + 1)
    if (patternEnd < 0 || optionsEnd < 0) throw invalid()
    return optionsEnd + 1 - at
  }
  if (at + 4 > end) throw invalid()
  const length = bytes.readInt32LE(at)
  if (length < 0) throw invalid()
  if (type === 0x02 || type === 0x0d || type === 0x0e) return 4 + length
  if (type === 0x03 || type === 0x04 || type === 0x0f) return Math.max(length, 5)
  if (type === 0x05) return 5 + length
  if (type === 0x0c) return 4 + length + 12
  throw invalid()
}

function invalid(): MongoError {
  return new MongoError(22, 'invalid BSON')
}

/** One statement of a write command, as much of it as error details need. */
type Statement = {
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
  const bytes = documentsIn(command, field)[number]
  if (bytes === undefined) return null
  const parsed: Record<string, unknown> = deserialize(bytes, { promoteValues: false })
  if (command.name === 'insert') return { document: parsed }
  return { ...(isRecord(parsed.q) ? { filter: parsed.q } : {}), update: parsed.u }
}

/** The documents that a command has in a field or in the sequence of that name, as they are. */
export function documentsIn(
  { view, sequences }: Pick<WriteCommand, 'view' | 'sequences'>,
  field: string,
): Buffer[] {
  const sequence = sequences.get(field)
  if (sequence !== undefined) return documentsOf(sequence)
  const array = view.embedded(field)
  return array === null ? [] : [...fieldsOf(array)].map(({ valueAt, end }) => array.subarray(valueAt, end))
}

function documentsOf(sequence: Buffer): Buffer[] {
  const documents: Buffer[] = []
  for (let at = 0; at < sequence.length; at += sequence.readInt32LE(at)) {
    documents.push(sequence.subarray(at, at + sequence.readInt32LE(at)))
  }
  return documents
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
