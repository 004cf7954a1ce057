import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { ByteQueue } from '@pitboss/engines/documentdb/gateway/wire/byte-queue'
import { deserialize, type Document, serialize } from 'bson'

const headerBytes = 21
const opMsg = 2013

/**
 * A connection that speaks OP_MSG and nothing else: no session, pool, retry or monitoring is added. One
 * command at a time.
 */
export class WireConnection {
  readonly #socket: Socket
  readonly #received = new ByteQueue()
  #waiting: { resolve: (reply: Document) => void; reject: (error: Error) => void } | null = null

  private constructor(socket: Socket) {
    this.#socket = socket
    socket.setNoDelay(true)
    socket.on('data', (chunk: Buffer) => this.#read(chunk))
    socket.on('close', () => this.#waiting?.reject(new Error('the gateway closed the connection')))
  }

  static async open(port: number): Promise<WireConnection> {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    return new WireConnection(socket)
  }

  /** @throws Error when the answer is not ok, or holds a write error. */
  async command(command: Document): Promise<Document> {
    if (this.#waiting !== null) throw new Error('one command at a time')
    const body = serialize(command)
    const message = Buffer.alloc(headerBytes + body.length)
    message.writeInt32LE(message.length, 0)
    message.writeInt32LE(opMsg, 12)
    message.set(body, headerBytes)
    const { promise, resolve, reject } = Promise.withResolvers<Document>()
    this.#waiting = { resolve, reject }
    this.#socket.write(message)
    const reply = await promise
    if (reply.ok !== 1 || reply.writeErrors !== undefined) throw new Error(JSON.stringify(reply))
    return reply
  }

  end(): void {
    this.#socket.destroy()
  }

  #read(chunk: Buffer): void {
    this.#received.push(chunk)
    const length = this.#received.peek(4)?.readInt32LE(0)
    const message = length === undefined ? null : this.#received.take(length)
    if (message === null) return
    const waiting = this.#waiting
    this.#waiting = null
    waiting?.resolve(deserialize(message.subarray(headerBytes), { promoteLongs: true }))
  }
}
