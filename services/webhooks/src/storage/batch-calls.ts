/**
 * Gathers the items of callers while a call to the database is under way and gives all of them to the next:
 * under load many share one round trip, alone each goes at once. One call at a time. When a group fails by
 * one of its items, each is tried by itself, so that no caller fails by another's item; every other failure
 * is that of the whole group.
 * @param itemsMax most items of one call; the callers bound the items that wait
 */
export function batchCalls<Item, Result>({
  run,
  itemsMax,
  failsByOne,
}: {
  /** Results in the order of the items. */
  run: (items: readonly Item[]) => Promise<readonly Result[]>
  itemsMax: number
  failsByOne: (error: unknown) => boolean
}): (items: readonly Item[]) => Promise<Result[]> {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void }
  let waiting: Waiting[] = []
  let busy = false

  async function settle(group: readonly Waiting[]): Promise<void> {
    try {
      const results = await run(group.map(({ item }) => item))
      for (const [index, { resolve, reject }] of group.entries()) {
        const result = results[index]
        if (result === undefined) reject(new Error('an item of a group had no result'))
        else resolve(result)
      }
    } catch (error) {
      if (group.length > 1 && failsByOne(error)) {
        for (const one of group) await settle([one])
      } else {
        for (const { reject } of group) reject(error)
      }
    }
  }

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const group = waiting.slice(0, itemsMax)
      waiting = waiting.slice(itemsMax)
      await settle(group)
    }
    busy = false
  }

  return (items) => {
    const results = items.map(
      (item) =>
        new Promise<Result>((resolve, reject) => {
          waiting.push({ item, resolve, reject })
        }),
    )
    if (!busy) {
      busy = true
      // What else comes in this turn of the loop goes along.
      setImmediate(() => void work())
    }
    return Promise.all(results)
  }
}
