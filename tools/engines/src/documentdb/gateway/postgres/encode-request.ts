export type Parameter = Buffer | string | bigint | null
export type Statement = { text: string; parameters: readonly Parameter[] }

/** Parameters up to here are copied into the request, longer ones are written as they are. */
const copyBytesMax = 32 * 1024
/**
 * Describe is not needed: every caller knows its columns. Execute of the unnamed portal without a row limit.
 */
const execute = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0])
const sync = Buffer.from([0x53, 0, 0, 0, 4])

/**
 * A statement by the name, ended by a zero, that it has in PostgreSQL; `parse` gives it that name where it is
 * new.
 */
export type Prepared = { name: Buffer; parse: Buffer | null; parameters: readonly Parameter[] }

/**
 * Between the length and the parameters: the unnamed portal, the name, one format code for all parameters
 * (binary).
 */
const bindFixedBytes = 1 + 4 + 1 + 2 + 2 + 2
const integerBytes = 8

/**
 * Parse (where new), Bind and Execute of each statement and one Sync, as the buffers to write: one, but for
 * long parameters, which are written from where they are. Parameters go in PostgreSQL's binary form: text as
 * UTF-8, integers as int8.
 */
export function encodeRequest(statements: readonly Prepared[]): Buffer[] {
  let length = sync.length
  for (const { name, parse, parameters } of statements) {
    length += (parse?.length ?? 0) + bindFixedBytes + name.length + allBinary.length + execute.length
    for (const parameter of parameters) length += 4 + copiedBytes(parameter)
  }
  const bytes = Buffer.allocUnsafe(length)
  const buffers: Buffer[] = []
  let from = 0
  let at = 0
  for (const { name, parse, parameters } of statements) {
    at += parse?.copy(bytes, at) ?? 0
    at = writeBind(bytes, at, name, parameters)
    for (const parameter of parameters) {
      const size = bytesOf(parameter)
      at = bytes.writeInt32BE(parameter === null ? -1 : size, at)
      if (Buffer.isBuffer(parameter) && size > copyBytesMax) {
        buffers.push(bytes.subarray(from, at), parameter)
        from = at
      } else at = writeParameter(bytes, at, parameter)
    }
    at += allBinary.copy(bytes, at)
    at += execute.copy(bytes, at)
  }
  sync.copy(bytes, at)
  buffers.push(from === 0 ? bytes : bytes.subarray(from))
  return buffers
}

/** @param name ended by a zero */
export function encodeParse(name: Buffer, text: string): Buffer {
  const body = Buffer.from(`${text}\0\0\0`)
  const bytes = Buffer.allocUnsafe(5 + name.length + body.length)
  bytes.writeUInt8(0x50, 0)
  bytes.writeInt32BE(bytes.length - 1, 1)
  name.copy(bytes, 5)
  body.copy(bytes, 5 + name.length)
  return bytes
}

/** Bind up to its parameters. */
function writeBind(bytes: Buffer, start: number, name: Buffer, parameters: readonly Parameter[]): number {
  let length = bindFixedBytes - 1 + name.length + allBinary.length
  for (const parameter of parameters) length += 4 + bytesOf(parameter)
  let at = bytes.writeUInt8(0x42, start)
  at = bytes.writeInt32BE(length, at)
  at = bytes.writeUInt8(0, at)
  at += name.copy(bytes, at)
  at = bytes.writeInt16BE(1, at)
  at = bytes.writeInt16BE(1, at)
  return bytes.writeInt16BE(parameters.length, at)
}

function writeParameter(bytes: Buffer, at: number, parameter: Parameter): number {
  if (parameter === null) return at
  if (typeof parameter === 'string') return at + bytes.write(parameter, at)
  if (typeof parameter === 'bigint') return bytes.writeBigInt64BE(parameter, at)
  return at + parameter.copy(bytes, at)
}

function bytesOf(parameter: Parameter): number {
  if (parameter === null) return 0
  if (typeof parameter === 'string') return Buffer.byteLength(parameter)
  return typeof parameter === 'bigint' ? integerBytes : parameter.length
}

/** The part of a parameter that lies in the request's own buffer: nothing of a long one. */
function copiedBytes(parameter: Parameter): number {
  const size = bytesOf(parameter)
  return Buffer.isBuffer(parameter) && size > copyBytesMax ? 0 : size
}

const allBinary = Buffer.from([0, 1, 0, 1])

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
