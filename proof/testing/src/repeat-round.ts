import { unpackOthers } from '@pitboss/storage/packed'
import { randomBytes } from 'node:crypto'
import { type Document, MongoClient } from 'mongodb'
import { readEntries, writeEntries } from './stored-entries.ts'
import { waitFor } from './wait-for.ts'

type Stored = { _id: string }

const database = 'pitboss_rounds'

/**
 * Stores copies of a round, each as the round of another player: luck that no fair game has, for the watch of
 * a running product to find. They are entries of a process that has died before anything of them was counted.
 */
export async function repeatRound(mongodbUrl: string, roundId: string, copies: number): Promise<void> {
  const client = await new MongoClient(mongodbUrl).connect()
  try {
    const db = client.db(database)
    const stored = await waitFor(() => db.collection<Stored>('rounds').findOne({ _id: roundId }), {
      what: 'the round',
      everyMs: 5,
    })
    const { n: _n, w: _w, o: _o, open: _open, ...round }: Document = unpackOthers(stored)
    const entries = await readEntries<Document>(db)
    const own = entries.filter(({ _id }) => _id.includes(`/${roundId.slice(-8)}/`))
    const facts = own.flatMap(({ f }) => f.flatMap(({ counted }) => counted ?? []))
    const o = `ins_copies_${roundId}`
    const copyOf = (copy: number) => {
      const as = (text: unknown) => `${String(text)}-${copy}`
      const base = { ...round, _id: as(round._id), chain: as(round.chain), playerId: as(round.playerId) }
      const counted = facts.map((fact) => ({ counted: { ...fact, id: as(fact.id) } }))
      return {
        _id: `00/copies/${as(roundId)}/000001`,
        ...{ w: randomBytes(8).toString('hex'), o, q: copy + 1, at: new Date() },
        f: [{ base, isOlder: true }, ...counted],
      }
    }
    await db.collection<Stored>('journal_instances').insertOne({
      ...{ _id: o, startedAt: new Date(), build: 'test', beat: 1, aliveUntil: new Date() },
      ...{ done: 0, last: copies, oldestAt: new Date(), judgedAt: null },
    } as Stored)
    await writeEntries(
      db,
      Array.from({ length: copies }, (_, copy) => copyOf(copy)),
    )
  } finally {
    await client.close()
  }
}
