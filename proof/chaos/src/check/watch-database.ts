import { setTimeout as delay } from 'node:timers/promises'
import type { PackedRound } from '@pitboss/rounds/storage/round-document'
import type { InstanceDocument } from '@pitboss/storage/journal/instances'
import { MongoClient } from 'mongodb'
import type { Verdict } from './verdict.ts'

const name = 'rounds: every unfinished round has a process that looks at it'
const everyMs = 1000
const unfinished = ['PENDING', 'OPEN', 'SETTLING'] as const
const databases = ['pitboss_rounds', 'pitboss_webhooks']

/** Looks in a row at which a round may have an owner that is gone: others have it seconds later. */
const unownedMax = 60
/** Databases whose events wait in a journal. */
const journals = ['pitboss_rounds', 'pitboss_wallet_bridge'] as const

export type DatabaseWatch = {
  /** Instances with entries whose events webhooks has not recorded yet. */
  unsent(): Promise<string[]>
  /** The alarms of the watch of returns: the streams with their counts. Fair games raise none. */
  returnAlarms(): Promise<string[]>
  /** Number of times that a lease went to another owner. */
  takeovers(): Promise<number>
  close(): Promise<void>
}

/**
 * Looks at the stored rounds once a second, in the middle of everything, past the services and their links.
 * A look that the database does not answer is left out.
 */
export function watchDatabase(url: string, verdict: Verdict): DatabaseWatch {
  const ended = new AbortController()
  const connecting = connect(url, ended.signal)
  const database = async (name: string) => (await connecting).db(name)
  const unowned = new Map<string, number>()
  const look = async () => {
    const rounds = await database('pitboss_rounds')
    const found = await rounds
      .collection<PackedRound>('rounds')
      .find({ status: { $in: unfinished } })
      .toArray()
    const instances = await rounds.collection<InstanceDocument>('journal_instances').find().toArray()
    const known = new Set(instances.map(({ _id }) => _id))
    const before = new Map(unowned)
    unowned.clear()
    for (const { _id, status, driver, open = false, o = '' } of found) {
      if (!known.has(o)) unowned.set(_id, (before.get(_id) ?? 0) + 1)
      const isFound = open && (unowned.get(_id) ?? 0) <= unownedMax
      verdict.check(name, isFound, () => `${_id} ${status} (${driver}), open ${open}, of ${o}`)
    }
  }
  const loop = async () => {
    while (!ended.signal.aborted) {
      await look().catch((error: unknown) => {
        if (!ended.signal.aborted && !isOfDatabase(error)) throw error
      })
      await delay(everyMs, undefined, { signal: ended.signal }).catch(() => undefined)
    }
  }
  const looping = loop().catch((error: unknown) => verdict.check(name, false, () => String(error)))

  return {
    async unsent() {
      const unsent: string[] = []
      for (const name of journals) {
        const instances = (await database(name)).collection<InstanceDocument>('journal_instances')
        for (const { _id, done, last } of await instances.find({ judgedAt: null }).toArray())
          if (done < last) unsent.push(`entries of ${_id}`)
      }
      return unsent
    },
    async returnAlarms() {
      const alarms = (await database('pitboss_rounds')).collection<{ _id: string }>('return_alarms')
      return (await alarms.find().toArray()).map((alarm) => JSON.stringify(alarm))
    },
    async takeovers() {
      let count = 0
      for (const name of databases) {
        const leases = (await database(name)).collection<{ _id: string; token: bigint | number }>('leases')
        for (const { token } of await leases.find().toArray()) count += Number(token) - 1
      }
      return count
    },
    async close() {
      ended.abort()
      await looping
      await connecting.then((client) => client.close()).catch(() => undefined)
    },
  }
}

/** Connects however long it takes: a client whose first connection fails is closed for good. */
async function connect(url: string, ended: AbortSignal): Promise<MongoClient> {
  for (;;) {
    ended.throwIfAborted()
    const client = new MongoClient(url, { useBigInt64: true, serverSelectionTimeoutMS: everyMs })
    try {
      return await client.connect()
    } catch (error) {
      await client.close()
      if (!isOfDatabase(error)) throw error
    }
  }
}

function isOfDatabase(error: unknown): boolean {
  return error instanceof Error && error.name.startsWith('Mongo')
}
