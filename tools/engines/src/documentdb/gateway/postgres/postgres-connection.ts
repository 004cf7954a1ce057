import { connect, type Socket } from 'node:net'
import { once } from 'node:events'
import { ConnectionLost, PostgresError } from '../errors/mongo-error.ts'
import { ByteQueue } from '../wire/byte-queue.ts'
import {
  encodeParse,
  encodeRequest,
  encodeSimple,
  encodeStartup,
  type Prepared,
  type Statement,
} from './encode-request.ts'

export type Row = (Buffer | null)[]
export type PostgresOptions = {
  socketPath: string
  user: string
  database: string
  applicationName: string
  /** PostgreSQL's settings for this connection. */
  settings?: Record<string, string>
}

type Request = {
  /** The rows of each statement of the request. */
  results: Row[][]
  rows: Row[]
  error: Error | null
  resolve: (results: Row[][]) => void
  reject: (error: Error) => void
}

const messageBytesMax = 1024 * 1024 * 1024
/**
 * Buffer in which every connection's bytes arrive, to be copied at once: cheaper than a buffer of its own for
 * every few hundred bytes.
 */
const arrivals = Buffer.allocUnsafe(64 * 1024)
/** Kind and length. */
const headerBytes = 5

/**
 * One connection to PostgreSQL over its Unix socket: binary parameters and results, named prepared
 * statements, requests pipelined in the order they were made.
 *
 * Why not `pg`: measured against it with the engine's own functions, this takes half of the processor time
 * for one document (19 and 37 µs) and a fifth to a third for a page of a thousand, because documents go
 * through as the bytes they are: no text, no type parsers, no copies.
 */
export class PostgresConnection {
  readonly #socket: Socket
  readonly #requests: Request[] = []
  readonly #names = new Map<string, Buffer>()
  readonly #queue = new ByteQueue()
  #named = 0
  #lost: ConnectionLost | null = null
  /** Resolves when the connection is gone, for any reason. */
  readonly gone: Promise<void>

  private constructor(socket: Socket) {
    this.#socket = socket
    const { promise, resolve } = Promise.withResolvers<void>()
    this.gone = promise
    socket.on('error', (error) => this.#lose(error))
    socket.on('close', () => {
      this.#lose(new Error('closed'))
      resolve()
    })
  }

  /**
   * @throws ConnectionLost without a listener or when the connection breaks; PostgresError when it is
   * refused.
   */
  static async open({
    socketPath,
    user,
    database,
    applicationName,
    settings = {},
  }: PostgresOptions): Promise<PostgresConnection> {
    let connection: PostgresConnection | null = null
    const callback = (bytes: number) => {
      if (connection !== null) connection.#receive(Buffer.from(arrivals.subarray(0, bytes)))
      return true
    }
    const socket = connect({ path: socketPath, onread: { buffer: arrivals, callback } })
    try {
      await once(socket, 'connect')
    } catch (error) {
      throw new ConnectionLost('PostgreSQL does not listen', { cause: error })
    }
    connection = new PostgresConnection(socket)
    const startup = {
      user,
      database,
      client_encoding: 'UTF8',
      application_name: applicationName,
      'documentdb.throwDeadlockOnCRUD': 'on',
      ...settings,
    }
    await connection.#send([encodeStartup(startup)])
    return connection
  }

  get isLost(): boolean {
    return this.#lost !== null
  }

  /** Runs one statement and gives its rows. */
  async query(text: string, parameters: Statement['parameters'] = []): Promise<Row[]> {
    const [rows] = await this.batch([{ text, parameters }])
    return rows ?? []
  }

  /**
   * Runs several statements in one round trip; outside a transaction they are one. Gives the rows of each.
   */
  batch(statements: readonly Statement[]): Promise<Row[][]> {
    const fresh: string[] = []
    const prepared: Prepared[] = []
    for (const { text, parameters } of statements) {
      let name = this.#names.get(text)
      let parse: Buffer | null = null
      if (name === undefined) {
        name = Buffer.from(`s${this.#named++}\0`)
        fresh.push(text)
        this.#names.set(text, name)
        parse = encodeParse(name, text)
      }
      prepared.push({ name, parse, parameters })
    }
    const sent = this.#send(encodeRequest(prepared))
    if (fresh.length === 0) return sent
    return sent.catch((error: unknown) => {
      for (const text of fresh) this.#names.delete(text)
      throw error
    })
  }

  /** Runs commands without parameters, separated by semicolons. */
  async simple(text: string): Promise<void> {
    await this.#send([encodeSimple(text)])
  }

  /** Ends the connection in good order after the earlier commands. */
  end(): void {
    if (this.#lost === null) this.#socket.end(Buffer.from([0x58, 0, 0, 0, 4]))
  }

  /** Breaks the connection; PostgreSQL rolls back open transactions. */
  destroy(): void {
    this.#lose(new Error('given up'))
  }

  #send(buffers: readonly Buffer[]): Promise<Row[][]> {
    const { promise, resolve, reject } = Promise.withResolvers<Row[][]>()
    if (this.#lost !== null) {
      reject(this.#lost)
      return promise
    }
    this.#requests.push({ results: [], rows: [], error: null, resolve, reject })
    const [only] = buffers
    if (only !== undefined && buffers.length === 1) {
      this.#socket.write(only)
      return promise
    }
    this.#socket.cork()
    for (const buffer of buffers) this.#socket.write(buffer)
    this.#socket.uncork()
    return promise
  }

  #lose(cause: Error): void {
    if (this.#lost !== null) return
    this.#lost = new ConnectionLost('the connection to PostgreSQL was lost', { cause })
    for (const request of this.#requests.splice(0)) request.reject(request.error ?? this.#lost)
    this.#socket.destroy()
  }

  /**
   * Messages that lie in one piece, as nearly all do, are read where they are; the rest waits for its other
   * pieces.
   */
  #receive(chunk: Buffer): void {
    let at = 0
    while (this.#queue.length === 0 && chunk.length - at >= headerBytes) {
      const end = at + this.#frameBytes(chunk, at)
      if (end > chunk.length) break
      if (this.#lost !== null) return
      this.#message(chunk, at, end)
      at = end
    }
    if (at === chunk.length) return
    this.#queue.push(at === 0 ? chunk : chunk.subarray(at))
    for (
      let header = this.#queue.peek(headerBytes);
      header !== null;
      header = this.#queue.peek(headerBytes)
    ) {
      const message = this.#queue.take(this.#frameBytes(header, 0))
      if (message === null || this.#lost !== null) return
      this.#message(message, 0, message.length)
    }
  }

  /**
   * Length of the message that begins at `at`, its kind included. An impossible length ends the connection.
   */
  #frameBytes(bytes: Buffer, at: number): number {
    const length = bytes.readInt32BE(at + 1)
    if (length >= 4 && length <= messageBytesMax) return length + 1
    this.#lose(new Error(`message of ${length} bytes`))
    return headerBytes
  }

  /** @param start where the message begins, with its kind and its length */
  #message(bytes: Buffer, start: number, end: number): void {
    const request = this.#requests[0]
    switch (bytes[start]) {
      case 0x44: // DataRow
        request?.rows.push(parseRow(bytes, start + headerBytes))
        return
      case 0x43: // CommandComplete
      case 0x49: // EmptyQueryResponse
        if (request !== undefined) {
          request.results.push(request.rows)
          request.rows = []
        }
        return
      case 0x45: // ErrorResponse
        this.#failed(new PostgresError(parseFields(bytes.subarray(start + headerBytes, end))), request)
        return
      case 0x5a: // ReadyForQuery
        this.#requests.shift()
        if (request?.error) request.reject(request.error)
        else request?.resolve(request.results)
        return
      case 0x52: // Authentication
        if (bytes.readInt32BE(start + headerBytes) !== 0)
          this.#lose(new Error('PostgreSQL asks for a password'))
        return
      default: // ParameterStatus, BackendKeyData, ParseComplete, BindComplete, NoticeResponse
        return
    }
  }

  #failed(error: PostgresError, request: Request | undefined): void {
    if (request === undefined) this.#lose(error)
    else if (error.connectionIsGone) request.error ??= new ConnectionLost(error.message, { cause: error })
    else request.error ??= error
  }
}

/** @param start where the number of columns lies */
function parseRow(body: Buffer, start: number): Row {
  const row: Row = []
  let at = start + 2
  for (let left = body.readInt16BE(start); left > 0; left--) {
    const length = body.readInt32BE(at)
    at += 4
    if (length < 0) row.push(null)
    else {
      row.push(body.subarray(at, at + length))
      at += length
    }
  }
  return row
}

function parseFields(body: Buffer): Map<string, string> {
  const fields = new Map<string, string>()
  for (let at = 0; at < body.length && body.readUInt8(at) !== 0; ) {
    const end = body.indexOf(0, at + 1)
    fields.set(String.fromCharCode(body.readUInt8(at)), body.toString('utf8', at + 1, end))
    at = end + 1
  }
  return fields
}
