import { mongoCode } from '../errors/error-codes.ts'
import { MongoError } from '../errors/mongo-error.ts'

export type Cursor = {
  id: bigint
  /** State with which the engine goes on where the last page ended. */
  continuation: Buffer
  session: string | null
  usedAtMs: number
  busy: boolean
}

const cursorsMax = 5_000
const idleMsMax = 600_000

/**
 * The open cursors of all clients. The engine keeps their results in files; here is where each of them
 * stands.
 */
export class CursorRegistry {
  readonly #cursors = new Map<bigint, Cursor>()

  get size(): number {
    return this.#cursors.size
  }

  /** @returns the cursor that had to make room, for the caller to delete in the engine; else null. */
  add(id: bigint, continuation: Buffer, session: string | null, nowMs: number): bigint | null {
    this.#cursors.set(id, {
      id,
      continuation: Buffer.from(continuation),
      session,
      usedAtMs: nowMs,
      busy: false,
    })
    if (this.#cursors.size <= cursorsMax) return null
    for (const cursor of this.#cursors.values()) {
      if (cursor.busy || cursor.id === id) continue
      this.#cursors.delete(cursor.id)
      return cursor.id
    }
    return null
  }

  /**
   * Lends a cursor to one getMore at a time; it goes back with `advance` or `release`.
   * @throws MongoError CursorNotFound, CursorInUse
   */
  borrow(id: bigint): Cursor {
    const cursor = this.#cursors.get(id)
    if (cursor === undefined) throw new MongoError(mongoCode.CursorNotFound, `cursor id ${id} not found`)
    if (cursor.busy) throw new MongoError(mongoCode.CursorInUse, `cursor id ${id} is already in use`)
    cursor.busy = true
    return cursor
  }

  /** After a page: where the next one begins, or null when this was the last. */
  advance(cursor: Cursor, continuation: Buffer | null, nowMs: number): void {
    this.release(cursor)
    if (continuation === null) this.#cursors.delete(cursor.id)
    else {
      cursor.continuation = Buffer.from(continuation)
      cursor.usedAtMs = nowMs
    }
  }

  release(cursor: Cursor): void {
    cursor.busy = false
  }

  /** @returns whether there was one. */
  remove(id: bigint): boolean {
    return this.#cursors.delete(id)
  }

  removeOfSessions(sessions: ReadonlySet<string>): bigint[] {
    return this.#removeWhere((cursor) => cursor.session !== null && sessions.has(cursor.session))
  }

  removeIdle(nowMs: number): bigint[] {
    return this.#removeWhere((cursor) => !cursor.busy && nowMs - cursor.usedAtMs > idleMsMax)
  }

  clear(): void {
    this.#cursors.clear()
  }

  #removeWhere(condition: (cursor: Cursor) => boolean): bigint[] {
    const removed = [...this.#cursors.values()].filter(condition).map((cursor) => cursor.id)
    for (const id of removed) this.#cursors.delete(id)
    return removed
  }
}
