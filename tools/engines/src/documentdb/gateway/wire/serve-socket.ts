import type { Socket } from 'node:net'
import { ByteQueue } from './byte-queue.ts'
import { decodeMessage, type Message, messageBytesMax, WireError } from './messages.ts'

type ServeSocketOptions = {
  socket: Socket
  /** Shared by all connections: what messages over `largeBytes` may hold in memory together. */
  budget: ByteBudget
  /**
   * Answers one message: the buffers to write, none when no answer is wanted. A throw closes the connection.
   */
  handle: (message: Message) => Promise<Buffer[]>
  onError: (error: unknown) => void
}

const largeBytes = 1024 * 1024
const aheadBytesMax = 1024 * 1024
const stalledAfterMs = 60_000

/**
 * Reads messages from a client one after the other and writes the answers in the same order. Buffers at most
 * one message (48 MB) and a megabyte that a client sent ahead; a message that stays unfinished for a minute
 * and a client that does not read its answers stop here.
 */
export function serveSocket({ socket, budget, handle, onError }: ServeSocketOptions): void {
  const queue = new ByteQueue()
  let running = false
  let stalling = false
  let reserved = 0

  socket.setNoDelay(true)
  socket.on('data', (chunk) => {
    queue.push(chunk)
    if (!running) next()
    else if (queue.length > aheadBytesMax) socket.pause()
  })
  socket.on('timeout', () => socket.destroy(new WireError('message left unfinished')))
  socket.on('error', onError)
  socket.on('close', giveBack)

  /** Has the first message answered, if it is all there, and then those behind it. */
  function next(): void {
    try {
      const length = queue.peek(4)?.readInt32LE(0)
      if (length === undefined || socket.destroyed) return waitForMore()
      if (length < 16 || length > messageBytesMax) throw new WireError(`message of ${length} bytes`)
      if (length > largeBytes && reserved === 0) {
        running = true
        void nextWithin(length)
        return
      }
      const bytes = queue.take(length)
      if (bytes === null) return waitForMore()
      running = true
      watchForStall(false)
      handle(decodeMessage(bytes)).then(answer, fail)
    } catch (error) {
      fail(error)
    }
  }

  function waitForMore(): void {
    running = false
    watchForStall(queue.length > 0)
    if (socket.isPaused()) socket.resume()
  }

  function watchForStall(on: boolean): void {
    if (on || stalling) socket.setTimeout(on ? stalledAfterMs : 0)
    stalling = on
  }

  function fail(error: unknown): void {
    running = false
    onError(error)
    // a reset reaches the client at once, whatever it is sending
    socket.resetAndDestroy()
  }

  /** Goes on when a message of so many bytes may be held. */
  async function nextWithin(bytes: number): Promise<void> {
    socket.pause()
    await budget.reserve(bytes)
    reserved = bytes
    if (socket.destroyed) giveBack()
    socket.resume()
    next()
  }

  function giveBack(): void {
    if (reserved === 0) return
    budget.release(reserved)
    reserved = 0
  }

  function answer(buffers: Buffer[]): void {
    if (!write(buffers) && socket.writableNeedDrain) void drained().then(answered)
    else answered()
  }

  function answered(): void {
    giveBack()
    next()
  }

  /** @returns whether the client takes its answers as fast as they come */
  function write(buffers: Buffer[]): boolean {
    const [first] = buffers
    if (first === undefined || socket.destroyed) return true
    if (buffers.length === 1) return socket.write(first)
    socket.cork()
    let flushed = true
    for (const buffer of buffers) flushed = socket.write(buffer)
    socket.uncork()
    return flushed
  }

  function drained(): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        socket.off('drain', done)
        socket.off('close', done)
        resolve()
      }
      socket.once('drain', done)
      socket.once('close', done)
    })
  }
}

/** Shares a number of bytes among those who buffer large messages; who finds none left waits its turn. */
export class ByteBudget {
  #free: number
  readonly #waiting: { bytes: number; grant: () => void }[] = []

  constructor(bytes: number) {
    this.#free = bytes
  }

  /** Resolves when `bytes` are reserved. The caller gives them back with `release`. */
  reserve(bytes: number): Promise<void> {
    return new Promise((grant) => {
      this.#waiting.push({ bytes, grant })
      this.#serve()
    })
  }

  release(bytes: number): void {
    this.#free += bytes
    this.#serve()
  }

  #serve(): void {
    for (
      let next = this.#waiting[0];
      next !== undefined && next.bytes <= this.#free;
      next = this.#waiting[0]
    ) {
      this.#waiting.shift()
      this.#free -= next.bytes
      next.grant()
    }
  }
}
