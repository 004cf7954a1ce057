import type { MovementDocument, Movements } from './movements.ts'

const epoch = new Date(0)

/** Reads the movements that wait to be looked at. */
export type Looks = {
  /** The ones that wait longest, of every account. */
  next(limit: number): Promise<MovementDocument[]>
  /** Ends the look, unless the movement has changed since it was read: then it is looked at again. */
  end(document: MovementDocument): Promise<void>
}

export function createLooks({ collection }: Movements): Looks {
  return {
    next: (limit) =>
      collection
        .find({ lookAt: { $gt: epoch } })
        .sort({ lookAt: 1 })
        .hint('look')
        .limit(limit)
        .toArray(),
    async end({ _id, version }) {
      await collection.updateOne({ _id, version }, { $unset: { lookAt: '', lookFor: '' } })
    },
  }
}
