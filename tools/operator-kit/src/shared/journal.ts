import { constants } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { dirname } from 'node:path'

const READ_CHUNK_BYTES = 1 << 20
const LINE_BYTES_MAX = 1 << 20

export type Journal = {
  /** Queues an entry. It is durable once `settled` resolves; entries keep their order. */
  append(entry: unknown): void
  /**
   * Resolves when all that was appended before this call has reached the disk; rejects when writing failed.
   */
  settled(): Promise<void>
  close(): Promise<void>
}

/**
 * An append-only file of JSON lines that is fsynced before anybody is told. Entries found are handed to
 * `replay` in order first. A torn last line (the process died while writing it) was never acknowledged and is
 * cut off. Appends made while a write is under way share the next write and fsync.
 * @throws when a line before the last one is damaged.
 */
export async function openJournal(path: string, replay: (entry: unknown) => void): Promise<Journal> {
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, constants.O_RDWR | constants.O_CREAT, 0o600)
  let position = await replayLines(file, path, replay)
  await file.truncate(position)
  let queue: string[] = []
  let queued: Promise<void> | null = null
  let written: Promise<void> = Promise.resolve()

  async function writeQueue(): Promise<void> {
    const bytes = Buffer.from(queue.join(''))
    queue = []
    queued = null
    await file.write(bytes, 0, bytes.length, position)
    await file.datasync()
    position += bytes.length
  }

  function settled(): Promise<void> {
    if (queue.length === 0) return written
    if (queued === null) {
      queued = written.then(writeQueue)
      written = queued
    }
    return queued
  }

  return {
    append: (entry) => {
      queue.push(`${JSON.stringify(entry)}\n`)
    },
    settled,
    async close() {
      await settled()
      await file.close()
    },
  }
}

async function replayLines(
  file: FileHandle,
  path: string,
  replay: (entry: unknown) => void,
): Promise<number> {
  const chunk = Buffer.alloc(READ_CHUNK_BYTES)
  let rest = Buffer.alloc(0)
  let readTo = 0
  let wholeTo = 0
  for (;;) {
    const { bytesRead } = await file.read(chunk, 0, chunk.length, readTo)
    if (bytesRead === 0) return wholeTo
    readTo += bytesRead
    rest = Buffer.concat([rest, chunk.subarray(0, bytesRead)])
    let start = 0
    for (let end = rest.indexOf(10, start); end >= 0; end = rest.indexOf(10, start)) {
      replay(parseLine(rest.toString('utf8', start, end), path, wholeTo))
      wholeTo += end + 1 - start
      start = end + 1
    }
    rest = rest.subarray(start)
    if (rest.length > LINE_BYTES_MAX) throw new Error(`${path}: the line at byte ${wholeTo} is too long`)
  }
}

function parseLine(line: string, path: string, offset: number): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw new Error(`${path}: the line at byte ${offset} is damaged`, { cause })
  }
}
