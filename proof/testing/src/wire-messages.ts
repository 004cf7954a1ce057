import { ByteQueue } from '@pitboss/engines/documentdb/gateway/wire/byte-queue'
import { deserialize, type Document, serialize } from 'bson'

const opReply = 1
const opMsg = 2013
const msgHeaderBytes = 21
const replyHeaderBytes = 36

/** Cuts a stream of MongoDB's wire protocol into whole messages. */
export function createFramer(): (bytes: Buffer) => Buffer[] {
  const received = new ByteQueue()
  return (bytes) => {
    received.push(bytes)
    const messages: Buffer[] = []
    for (;;) {
      const length = received.peek(4)?.readInt32LE(0)
      const message = length === undefined ? null : received.take(length)
      if (message === null) return messages
      messages.push(message)
    }
  }
}

export function requestIdOf(message: Buffer): number {
  return message.readInt32LE(4)
}

export function responseToOf(message: Buffer): number {
  return message.readInt32LE(8)
}

/**
 * The command of an OP_MSG without its document sequences, or the document of an answer; null for a kind of
 * message that holds neither.
 */
export function documentOf(message: Buffer): Document | null {
  const at = documentAt(message)
  return at === null ? null : deserialize(message.subarray(at), { allowObjectSmallerThanBufferSize: true })
}

/** The same answer with another document. */
export function withDocument(message: Buffer, document: Document): Buffer {
  const at = documentAt(message)
  if (at === null) throw new Error('the message holds no document')
  const changed = Buffer.concat([message.subarray(0, at), serialize(document)])
  changed.writeInt32LE(changed.length, 0)
  return changed
}

/** An OP_MSG that answers the request. */
export function answerTo(request: Buffer, document: Document): Buffer {
  const head = Buffer.alloc(msgHeaderBytes)
  head.writeInt32LE(requestIdOf(request), 8)
  head.writeInt32LE(opMsg, 12)
  return withDocument(head, document)
}

function documentAt(message: Buffer): number | null {
  const opCode = message.readInt32LE(12)
  if (opCode === opReply) return replyHeaderBytes
  return opCode === opMsg && message[msgHeaderBytes - 1] === 0 ? msgHeaderBytes : null
}
