import { MongoClient } from 'mongodb'
import { waitFor } from './wait-for.ts'

type Stored = { _id: string; chain: string; facts: { id: string }[] }

const database = 'pitboss_rounds'

/**
 * Stores copies of a round of which the reports and the watch of returns have not counted anything yet, each
 * as the round of another player: luck that no fair game has, for the watch of a running product to find.
 * @returns false when the round was counted first
 */
export async function repeatRound(mongodbUrl: string, roundId: string, copies: number): Promise<boolean> {
  const client = await new MongoClient(mongodbUrl).connect()
  try {
    const rounds = client.db(database).collection<Stored>('rounds')
    const round = await waitFor(() => rounds.findOne({ _id: roundId }), {
      what: 'the round',
      everyMs: 5,
    })
    if (round.facts.length === 0) return false
    const copyOf = (copy: number): Stored => {
      const as = (text: string) => `${text}-${copy}`
      const facts = round.facts.map((fact) => ({ ...fact, id: as(fact.id) }))
      return { ...round, _id: as(roundId), chain: as(round.chain), facts }
    }
    await rounds.insertMany(Array.from({ length: copies }, (_, copy) => copyOf(copy)))
    return true
  } finally {
    await client.close()
  }
}
