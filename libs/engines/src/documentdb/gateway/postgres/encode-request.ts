export type Parameter = Buffer | string | bigint | null
export type Statement = { text: string; parameters: readonly Parameter[] }

/** Parameters up to here are copied into the request, longer ones are written as they are. */
const copyBytesMax = 32 * 1024
/** Describe is not needed: every caller knows its columns. Execute of the unnamed portal without a row limit. */
const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0])
const sync = Buffer.from([0x53, 0, 0, 0, 4])

export type Prepared = { name: string; text: string; fresh: boolean; parameters: readonly (Buffer | null)[] }

/** Parameters in PostgreSQL's binary form: text as UTF-8, integers as int8. */
export function encodeParameters(parameters: readonly Parameter[]): (Buffer | null)[] {
  return parameters.map((value) => {
    if (value === null || Buffer.isBuffer(value)) return value
    if (typeof value === 'string') return Buffer.from(value)
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeBigInt64BE(value)
    return bytes
  })
}

/** Parse (where fresh), Bind and Execute of each statement and one Sync, as the buffers to write. */
export function encodeRequest(statements: readonly Prepared[]): Buffer[] {
  const pieces: Buffer[] = []
  for (const statement of statements) {
    if (statement.fresh) pieces.push(encodeParse(statement))
    pieces.push(...encodeBind(statement), execute)
  }
  pieces.push(sync)
  return joinShort(pieces)
}

function encodeParse({ name, text }: Prepared): Buffer {
  const body = Buffer.from(`${name}\0${text}\0\0\0`)
  const bytes = Buffer.allocUnsafe(5 + body.length)
  bytes.writeUInt8(0x50, 0)
  bytes.writeInt32BE(4 + body.length, 1)
  body.copy(bytes, 5)
  return bytes
}

function encodeBind({ name, parameters }: Prepared): Buffer[] {
  const pieces: Buffer[] = []
  const nameBytes = Buffer.byteLength(name)
  let length = 4 + 1 + nameBytes + 1 + 4 + 2 + 4
  for (const parameter of parameters) length += 4 + (parameter?.length ?? 0)
  const head = Buffer.allocUnsafe(1 + 4 + 1 + nameBytes + 1 + 6)
  let at = head.writeUInt8(0x42, 0)
  at = head.writeInt32BE(length, at)
  at = head.writeUInt8(0, at)
  at += head.write(name, at)
  at = head.writeUInt8(0, at)
  at = head.writeInt16BE(1, at)
  at = head.writeInt16BE(1, at)
  head.writeInt16BE(parameters.length, at)
  pieces.push(head)
  for (const parameter of parameters) {
    const prefix = Buffer.allocUnsafe(4)
    prefix.writeInt32BE(parameter?.length ?? -1)
    pieces.push(prefix)
    if (parameter !== null) pieces.push(parameter)
  }
  pieces.push(allBinary)
  return pieces
}

const allBinary = Buffer.from([0, 1, 0, 1])

function joinShort(pieces: readonly Buffer[]): Buffer[] {
  const joined: Buffer[] = []
  let short: Buffer[] = []
  for (const piece of pieces) {
    if (piece.length <= copyBytesMax) {
      short.push(piece)
      continue
    }
    if (short.length > 0) joined.push(Buffer.concat(short))
    joined.push(piece)
    short = []
  }
  if (short.length > 0) joined.push(Buffer.concat(short))
  return joined
}

/** A query in the simple protocol: several commands without parameters. */
export function encodeSimple(text: string): Buffer {
  const body = Buffer.from(`${text}\0`)
  const bytes = Buffer.allocUnsafe(5 + body.length)
  bytes.writeUInt8(0x51, 0)
  bytes.writeInt32BE(4 + body.length, 1)
  body.copy(bytes, 5)
  return bytes
}

/** The first message of a connection. */
export function encodeStartup(settings: Record<string, string>): Buffer {
  const body = Buffer.from(`${Object.entries(settings).flat().join('\0')}\0\0`)
  const bytes = Buffer.allocUnsafe(8 + body.length)
  bytes.writeInt32BE(bytes.length, 0)
  bytes.writeInt32BE(3 << 16, 4)
  body.copy(bytes, 8)
  return bytes
}
