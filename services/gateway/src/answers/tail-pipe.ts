import { Readable } from 'node:stream'

/** Records that go to one reader in a second. */
export const recordsPerSecond = 20
/** Bytes on their way to one reader; a reader that leaves as much unread gets nothing more. */
const unreadMax = 64 * 1024
const heartbeatEveryS = 10
/** A reader that takes nothing for so long is dropped. */
const stuckMaxS = 10

export type TailPipe = {
  readonly readable: Readable
  /** Sends a record's frame, or counts it as missed. */
  offer(frame: Buffer): void
  /** Called each second: new room, missed records are told, a silent connection gets a heartbeat. */
  tick(): void
  /** Says why it ends, and ends. */
  end(code: string): void
}

/**
 * The server-sent events of one reader. What he does not take in time is not kept: it is counted, and he is
 * told how many he missed. Source: docs/contract.md, section 3, "Stream".
 */
export function createTailPipe(): TailPipe {
  let room = recordsPerSecond
  let missed = 0
  let takes = true
  let silentS = 0
  let stuckS = 0
  const readable = new Readable({
    highWaterMark: unreadMax,
    read() {
      takes = true
    },
  })
  const push = (frame: string | Buffer) => {
    takes = readable.push(frame)
    silentS = 0
  }
  push(': open\n\n')

  function tellMissed(): void {
    if (missed === 0 || !takes) return
    push(frameOf('missed', JSON.stringify({ count: missed })))
    missed = 0
  }

  return {
    readable,
    offer(frame) {
      if (readable.destroyed || readable.readableEnded) return
      if (!takes || room === 0 || missed > 0) {
        missed += 1
        return
      }
      room -= 1
      push(frame)
    },
    tick() {
      room = recordsPerSecond
      silentS += 1
      stuckS = takes ? 0 : stuckS + 1
      if (stuckS >= stuckMaxS) readable.destroy()
      else if (missed > 0) tellMissed()
      else if (takes && silentS >= heartbeatEveryS) push(': still here\n\n')
    },
    end(code) {
      if (readable.destroyed) return
      if (takes) readable.push(frameOf('end', JSON.stringify({ code })))
      readable.push(null)
      takes = false
    },
  }
}

/** One server-sent event; its bytes are the same for all who read it. */
export function recordFrame(kind: string, record: string): Buffer {
  return Buffer.from(frameOf(kind, record))
}

function frameOf(event: string, data: string): string {
  return `event: ${event}\ndata: ${data}\n\n`
}
