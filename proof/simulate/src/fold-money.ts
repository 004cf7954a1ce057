import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movement-document'

/** What an entry of a round's money says, as it is stored. */
type Fact = {
  readonly base?: MovementDocument
  readonly of?: string
  readonly set?: Readonly<Record<string, unknown>>
  readonly unset?: readonly string[]
  readonly push?: Readonly<Record<string, readonly unknown[]>>
}
/** Facts that change no movement have none of these fields. */
type Entry = { readonly _id: string; readonly w: string; readonly f: readonly object[] }

/**
 * The movements that a round's entries make, by transaction id: read a second time here, so that what judges
 * shares nothing with the product's own reading. An entry counts whose movements' ids are all its own.
 */
export function foldMoney(
  entries: readonly Entry[],
  isOwn: (movement: MovementDocument, w: string) => boolean,
): ReadonlyMap<string, MovementDocument> {
  const movements = new Map<string, MovementDocument>()
  for (const { _id, w, f } of entries) {
    const shown = { n: numberOf(_id), w }
    if (!f.every(({ base }: Fact) => base === undefined || isOwn(base, w))) continue
    for (const fact of f) {
      const { base, of, set, unset = [], push = {} }: Fact = fact
      if (base !== undefined) movements.set(base.transactionId, { ...base, ...shown })
      const before = of === undefined ? undefined : movements.get(of)
      if (of === undefined || before === undefined) continue
      const movement = { ...before, ...set, ...shown }
      for (const name of unset) Reflect.deleteProperty(movement, name)
      for (const [name, items] of Object.entries(push)) {
        const present: unknown = Reflect.get(movement, name)
        Reflect.set(movement, name, [...(Array.isArray(present) ? present : []), ...items])
      }
      movements.set(of, movement)
    }
  }
  return movements
}

function numberOf(id: string): number {
  return Number(id.slice(id.lastIndexOf('/') + 1))
}
