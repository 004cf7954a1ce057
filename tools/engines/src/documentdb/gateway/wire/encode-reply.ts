const opReply = 1
const opMsg = 2013
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
