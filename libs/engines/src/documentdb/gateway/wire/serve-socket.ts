import type { Socket } from 'node:net'
import { ByteQueue } from './byte-queue.ts'
import type { ByteBudget } from './byte-budget.ts'
import { decodeMessage, type Message, WireError } from './decode-message.ts'
import { messageBytesMax } from './limits.ts'

export type ServeSocketOptions = {
  socket: Socket
  /** Shared by all connections: what messages over `largeBytes` may hold in memory together. */
  budget: ByteBudget
  /** Answers one message: the buffers to write, none when no answer is wanted. A throw closes the connection. */
  handle: (message: Message) => Promise<Buffer[]>
  onError: (error: unknown) => void
}

const largeBytes = 1024 * 1024
const aheadBytesMax = 1024 * 1024
const stalledAfterMs = 60_000

/**
 * Reads messages from a client one after the other and writes the answers in the same order. Buffers at most one
 * message (48 MB) and a megabyte that a client sent ahead; a message that stays unfinished for a minute and a client that
 * does not read its answers stop here.
 */
export function serveSocket({ socket, budget, handle, onError }: ServeSocketOptions): void {
  const queue = new ByteQueue()
  let running = false
  let reserved = 0

  socket.setNoDelay(true)
  socket.on('data', (chunk) => {
    queue.push(chunk)
    if (running && queue.length > aheadBytesMax) socket.pause()
    else void pump()
  })
  socket.on('timeout', () => socket.destroy(new WireError('message left unfinished')))
  socket.on('error', onError)
  socket.on('close', giveBack)

  async function pump(): Promise<void> {
    if (running) return
    running = true
    try {
      while (await step());
      socket.setTimeout(queue.length > 0 ? stalledAfterMs : 0)
      socket.resume()
    } catch (error) {
      onError(error)
      // why not destroy(): see drop() in gateway.ts
      socket.resetAndDestroy()
    } finally {
      running = false
    }
  }

  /** One message, if it is there; false when more bytes must come first. */
  async function step(): Promise<boolean> {
    const length = queue.peek(4)?.readInt32LE(0)
    if (length === undefined || socket.destroyed) return false
    if (length < 16 || length > messageBytesMax) throw new WireError(`message of ${length} bytes`)
    if (length > largeBytes && reserved === 0) await reserve(length)
    const bytes = queue.take(length)
    if (bytes === null) return false
    socket.setTimeout(0)
    await answer(await handle(decodeMessage(bytes)))
    giveBack()
    return true
  }

  async function reserve(bytes: number): Promise<void> {
    socket.pause()
    await budget.reserve(bytes)
    reserved = bytes
    if (socket.destroyed) giveBack()
    socket.resume()
  }

  function giveBack(): void {
    if (reserved === 0) return
    budget.release(reserved)
    reserved = 0
  }

  async function answer(buffers: Buffer[]): Promise<void> {
    if (buffers.length === 0 || socket.destroyed) return
    socket.cork()
    let flushed = true
    for (const buffer of buffers) flushed = socket.write(buffer)
    socket.uncork()
    if (!flushed && socket.writableNeedDrain) await drained()
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
