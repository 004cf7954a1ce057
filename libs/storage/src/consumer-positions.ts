import type { Db } from 'mongodb'

/** Up to where a durable consumer has acknowledged everything, and of which history of which stream. */
type Position = {
  readonly stream: string
  readonly streamCreated: string
  readonly seq: number
  readonly messageAt: string
}

/** Keeps the position of each durable consumer of this service, for when the broker has lost the consumer. */
export function createConsumerPositions(db: Db) {
  const positions = db.collection<Position & { _id: string }>('consumer_positions')
  return {
    async read(consumer: string): Promise<Position | null> {
      const found = await positions.findOne({ _id: consumer })
      if (found === null) return null
      const { _id, ...position } = found
      return position
    },
    note: async (consumer: string, position: Position): Promise<void> => {
      await positions.updateOne({ _id: consumer }, { $set: { ...position } }, { upsert: true })
    },
  }
}
