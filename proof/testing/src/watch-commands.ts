import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Document } from 'bson'
import { listenLocally } from './listen-locally.ts'
import { createFramer, documentOf, requestIdOf, responseToOf } from './wire-messages.ts'

/** A database command that was answered. */
export type SeenCommand = {
  /** The database's name without the installation's prefix: the service that owns it. */
  readonly service: string
  readonly collection: string
  readonly name: string
  readonly command: Document
  /** The command as text, to look for ids in. */
  readonly text: string
  /** Documents that it inserted, changed or deleted: in PostgreSQL each is a version, or the end of one. */
  readonly versions: number
  readonly startedAt: number
}

/** A proxy in front of a database that notes every command with its answer. Times are `performance.now`. */
export async function watchCommands(
  url: string,
): Promise<{ url: string; seen: SeenCommand[]; close(): Promise<void> }> {
  const { hostname: host, port, searchParams } = new URL(url)
  const seen: SeenCommand[] = []
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const database = connect(Number(port), host)
    const [requests, replies] = [createFramer(), createFramer()]
    const waiting = new Map<number, Omit<SeenCommand, 'versions'>>()
    client.on('data', (bytes: Buffer) => {
      for (const message of requests(bytes)) {
        const command = documentOf(message)
        if (command !== null) waiting.set(requestIdOf(message), noted(command))
      }
    })
    database.on('data', (bytes: Buffer) => {
      for (const message of replies(bytes)) {
        const command = waiting.get(responseToOf(message))
        waiting.delete(responseToOf(message))
        if (command !== undefined) seen.push({ ...command, versions: versionsOf(documentOf(message)) })
      }
    })
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.setNoDelay(true)
      from.pipe(to)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        open.delete(from)
        to.destroy()
      })
      open.add(from)
    }
  })
  const ownPort = await listenLocally(server)
  searchParams.delete('replicaSet')
  searchParams.set('directConnection', 'true')
  return {
    url: `mongodb://127.0.0.1:${ownPort}/?${searchParams.toString()}`,
    seen,
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

function noted(command: Document): Omit<SeenCommand, 'versions'> {
  const [name = '', collection = ''] = Object.entries(command)[0] ?? []
  const service = String(command.$db).replace(/^[^_]*_/, '')
  const text = JSON.stringify(command, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  return { service, collection: String(collection), name, command, text, startedAt: performance.now() }
}

function versionsOf(reply: Document | null): number {
  if (reply === null) return 0
  const { n = 0, nModified, upserted = [], lastErrorObject } = reply
  if (lastErrorObject !== undefined) return Number(lastErrorObject.n)
  return nModified === undefined ? Number(n) : Number(nModified) + upserted.length
}
