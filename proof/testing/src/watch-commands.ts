import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import type { Document } from 'bson'
import { listenLocally } from './listen-locally.ts'
import { createFramer, documentOf, requestIdOf, responseToOf } from './wire-messages.ts'

/** A database command that was answered. */
export type SeenCommand = {
  /** The database's name without the installation's prefix: the service that owns it. */
  readonly service: string
  /** Of a `bulkWrite` several, parted by spaces. */
  readonly collection: string
  readonly name: string
  readonly command: Document
  /** The command as text, to look for ids in. */
  readonly text: string
  /**
   * Documents that it inserted, changed or deleted, by collection: in PostgreSQL each is a version, or the end
   * of one.
   */
  readonly versions: ReadonlyMap<string, number>
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
        if (command !== undefined)
          seen.push({ ...command, versions: versionsOf(command, documentOf(message)) })
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
  const [name = '', given = ''] = Object.entries(command)[0] ?? []
  const spaces = name === 'bulkWrite' ? spacesOf(command) : []
  const service = (spaces[0]?.database ?? String(command.$db)).replace(/^[^_]*_/, '')
  const collection = spaces.map((space) => space.collection).join(' ') || String(given)
  const text = JSON.stringify(command, (_, value) => (typeof value === 'bigint' ? String(value) : value))
  return { service, collection, name, command, text, startedAt: performance.now() }
}

/** The collections that the operations of a `bulkWrite` name by their place. */
const spacesOf = ({ nsInfo }: Document): { database: string; collection: string }[] =>
  nsInfo.map(({ ns }: { ns: string }) => {
    const [database = '', ...collection] = ns.split('.')
    return { database, collection: collection.join('.') }
  })

function versionsOf({ name, collection, command }: Omit<SeenCommand, 'versions'>, reply: Document | null) {
  const { n = 0, nInserted = 0, nModified, upserted = [], lastErrorObject } = reply ?? {}
  if (name !== 'bulkWrite') {
    const changed = nModified === undefined ? n : nModified + upserted.length
    return new Map([[collection, Number(lastErrorObject?.n ?? changed)]])
  }
  const spaces = spacesOf(command)
  const inserts: Document[] = command.ops.slice(0, nInserted)
  const byCollection = Map.groupBy(inserts, ({ insert }) => spaces[insert]?.collection ?? '')
  return new Map([...byCollection].map(([each, ofIt]) => [each, ofIt.length]))
}
