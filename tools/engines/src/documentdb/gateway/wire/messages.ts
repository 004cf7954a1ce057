/**
 * MongoDB's own limits, as `hello` announces them; the engine's own batch limit is the smaller one and wins.
 */
export const messageBytesMax = 48_000_000
export const documentBytesMax = 16 * 1024 * 1024
/** MongoDB lets a command be this much longer than the largest document it carries. */
export const commandBytesMax = documentBytesMax + 16 * 1024
export const writeBatchMax = 25_000

/** A client broke the protocol: there is nothing to answer, its connection is closed. */
export class WireError extends Error {}

export type Message = {
  /** The client's number of this message, repeated in the answer. */
  requestId: number
  /** A handshake in the old form must be answered in the old form. */
  legacy: boolean
  /** Its length on the wire. */
  bytes: number
  /** False when the client asked for no answer (unacknowledged writes). */
  wantsReply: boolean
  body: Buffer
  /** Document sequences by name: concatenated BSON documents, checked for whole lengths. */
  sequences: Map<string, Buffer>
  /** The longest document of all sequences, for a limit that is answered rather than cut off. */
  longestDocumentBytes: number
}

const opQuery = 2004
const opMsg = 2013
const headerBytes = 16
const checksumPresent = 1
const moreToCome = 2
/** Unknown flags among these must be refused; those above may be ignored, `exhaustAllowed` (1 << 16) too. */
const requiredFlags = 0xffff

/**
 * Reads one complete message: OP_MSG, or the OP_QUERY that older handshakes use. Checksums are skipped, not
 * verified: the connection is a loopback one. `exhaustAllowed` is granted to no command, which the protocol
 * permits.
 * @throws WireError for anything that is not a well-formed message of these two kinds.
 */
export function decodeMessage(bytes: Buffer): Message {
  const opCode = bytes.readInt32LE(12)
  if (opCode === opMsg) return decodeMsg(bytes)
  if (opCode === opQuery) return decodeQuery(bytes)
  throw new WireError(`operation code ${opCode} is not served`)
}

function decodeMsg(bytes: Buffer): Message {
  if (bytes.length < headerBytes + 4 + 1 + 5) throw new WireError('message too short')
  const flags = bytes.readUInt32LE(headerBytes)
  if ((flags & requiredFlags & ~(checksumPresent | moreToCome)) !== 0)
    throw new WireError('unknown required flag')
  const end = bytes.length - ((flags & checksumPresent) === 0 ? 0 : 4)
  const sequences = new Map<string, Buffer>()
  let body: Buffer | null = null
  let longestDocumentBytes = 0
  let at = headerBytes + 4
  while (at < end) {
    const kind = bytes.readUInt8(at)
    const length = lengthAt(bytes, at + 1, end)
    const section = bytes.subarray(at + 1, at + 1 + length)
    if (kind === 0) {
      if (body !== null) throw new WireError('two bodies')
      body = checkedBody(section)
    } else if (kind === 1) {
      const nameEnd = section.indexOf(0, 4)
      if (nameEnd < 0) throw new WireError('unterminated sequence name')
      const name = section.toString('utf8', 4, nameEnd)
      if (sequences.has(name)) throw new WireError('a sequence given twice')
      const documents = section.subarray(nameEnd + 1)
      longestDocumentBytes = Math.max(longestDocumentBytes, longestDocument(documents))
      sequences.set(name, documents)
    } else throw new WireError('unknown section kind')
    at += 1 + length
  }
  if (body === null) throw new WireError('no body')
  const wantsReply = (flags & moreToCome) === 0
  return {
    requestId: bytes.readInt32LE(4),
    legacy: false,
    bytes: bytes.length,
    wantsReply,
    body,
    sequences,
    longestDocumentBytes,
  }
}

function decodeQuery(bytes: Buffer): Message {
  const nameEnd = bytes.indexOf(0, headerBytes + 4)
  const at = nameEnd + 1 + 8
  if (nameEnd < 0 || at + 5 > bytes.length) throw new WireError('message too short')
  if (!bytes.toString('utf8', headerBytes + 4, nameEnd).endsWith('.$cmd'))
    throw new WireError('not a command')
  const body = checkedBody(bytes.subarray(at, at + lengthAt(bytes, at, bytes.length)))
  return {
    requestId: bytes.readInt32LE(4),
    legacy: true,
    bytes: bytes.length,
    wantsReply: true,
    body,
    sequences: new Map(),
    longestDocumentBytes: 0,
  }
}

function checkedBody(body: Buffer): Buffer {
  if (body.length > commandBytesMax) throw new WireError('command too long')
  if (body.readUInt8(body.length - 1) !== 0) throw new WireError('unterminated document')
  return body
}

/** A length that counts itself, as both BSON documents and sections have it. */
function lengthAt(bytes: Buffer, at: number, end: number): number {
  if (at + 5 > end) throw new WireError('cut short')
  const length = bytes.readInt32LE(at)
  if (length < 5 || at + length > end) throw new WireError('length out of bounds')
  return length
}

function longestDocument(documents: Buffer): number {
  let longest = 0
  for (let at = 0; at < documents.length; ) {
    const length = lengthAt(documents, at, documents.length)
    longest = Math.max(longest, length)
    at += length
  }
  return longest
}

const opReply = 1
const msgHeaderBytes = 21
const legacyHeaderBytes = 36
const legacyAwaitCapable = 8
/** Up to here one buffer with a copy is cheaper than two writes. */
const copyBytesMax = 32 * 1024

/**
 * An OP_MSG answer as the buffers to write: one when it is short, header and document apart when it is long.
 */
export function encodeMsgReply(document: Buffer, requestId: number, responseTo: number): Buffer[] {
  const total = msgHeaderBytes + document.length
  const joined = document.length <= copyBytesMax
  const bytes = Buffer.allocUnsafe(joined ? total : msgHeaderBytes)
  writeHeader(bytes, total, requestId, responseTo, opMsg)
  bytes.writeInt32LE(0, 16)
  bytes.writeUInt8(0, 20)
  if (!joined) return [bytes, document]
  document.copy(bytes, msgHeaderBytes)
  return [bytes]
}

/** The OP_REPLY that answers a handshake in the old form. */
export function encodeLegacyReply(document: Buffer, requestId: number, responseTo: number): Buffer[] {
  const bytes = Buffer.alloc(legacyHeaderBytes)
  writeHeader(bytes, legacyHeaderBytes + document.length, requestId, responseTo, opReply)
  bytes.writeInt32LE(legacyAwaitCapable, 16)
  bytes.writeInt32LE(1, 32)
  return [bytes, document]
}

function writeHeader(
  bytes: Buffer,
  total: number,
  requestId: number,
  responseTo: number,
  opCode: number,
): void {
  bytes.writeInt32LE(total, 0)
  bytes.writeInt32LE(requestId, 4)
  bytes.writeInt32LE(responseTo, 8)
  bytes.writeInt32LE(opCode, 12)
}
