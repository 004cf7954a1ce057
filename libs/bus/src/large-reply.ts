import { promisify } from 'node:util'
import { constants, gunzip, gzip } from 'node:zlib'
import { headers, type Msg, type MsgHdrs } from 'nats'

const pack = promisify(gzip)
const unpack = promisify(gunzip)

/** Below it a reply goes as it is; NATS takes a message of 1 MiB unless configured otherwise. */
const packedFromBytes = 256 * 1024
/** A reply that unpacks to more is not one of ours. */
const unpackedBytesMax = 64 * 1024 * 1024
const encodingHeader = 'Content-Encoding'

/**
 * Answers a call, large replies (a report of a year) compressed: JSON rows shrink to less than a tenth.
 * @throws Error when even so NATS does not take it.
 */
export async function respond(message: Msg, reply: Uint8Array): Promise<void> {
  if (reply.length < packedFromBytes) {
    message.respond(reply)
    return
  }
  const head = headers()
  head.set(encodingHeader, 'gzip')
  message.respond(await pack(reply, { level: constants.Z_BEST_SPEED }), { headers: head })
}

/** The reply as it was before `respond`. @throws Error for what does not unpack within 64 MiB. */
export async function readReply(message: { data: Uint8Array; headers?: MsgHdrs }): Promise<Uint8Array> {
  if (message.headers?.get(encodingHeader) !== 'gzip') return message.data
  return unpack(message.data, { maxOutputLength: unpackedBytesMax })
}
