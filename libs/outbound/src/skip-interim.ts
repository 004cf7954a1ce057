import type { Socket } from 'node:net'

const headBytesMax = 16 * 1024
const digits = '0123456789'
/** What may stand at each place of the first bytes of an interim answer; an empty text fits everywhere. */
const statusLine = [...['H', 'T', 'T', 'P', '/', '1', '.', '01', ' ', '1'], digits, digits, ' \r']

/**
 * Hides the interim answers of a peer (1xx, but for 101) from the HTTP client that reads this socket. undici,
 * which asks for no `100 Continue`, ends the connection at one; a client must be able to parse interim
 * answers that it does not expect (RFC 9110, section 15.2). What comes between a request and its final answer
 * is looked at.
 */
export function skipInterim(socket: Socket): void {
  const [read, write] = [socket.read.bind(socket), socket.write.bind(socket)]
  /** A part of what may become the head of an interim answer. */
  let held: Buffer | null = null
  let isAtHead = false

  const define = (name: 'read' | 'write', value: (...given: unknown[]) => unknown) =>
    Object.defineProperty(socket, name, { value, configurable: true, writable: true })
  define('write', (...given) => {
    isAtHead = true
    return Reflect.apply(write, socket, given)
  })
  define('read', (...given) => {
    for (;;) {
      const chunk: unknown = Reflect.apply(read, socket, given)
      if (!isAtHead || !Buffer.isBuffer(chunk)) return chunk
      const bytes: Buffer = held === null ? chunk : Buffer.concat([held, chunk])
      const rest = withoutInterim(bytes)
      held = rest === 'incomplete' ? bytes : null
      if (rest === 'incomplete') continue
      isAtHead = rest.length === 0
      if (rest.length > 0) return rest
    }
  })
}

/** The bytes after all heads of interim answers at their beginning. */
function withoutInterim(bytes: Buffer): Buffer | 'incomplete' {
  let rest = bytes
  while (mayBeInterim(rest)) {
    const end = rest.indexOf('\r\n\r\n')
    if (end === -1) return rest.length > headBytesMax ? rest : 'incomplete'
    rest = rest.subarray(end + 4)
  }
  return rest
}

function mayBeInterim(bytes: Buffer): boolean {
  if (bytes.length === 0) return false
  const begins = bytes.toString('latin1', 0, statusLine.length)
  return statusLine.every((those, at) => those.includes(begins.charAt(at))) && begins.slice(9, 12) !== '101'
}
