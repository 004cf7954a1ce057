/** How much a group has written, in how many writes. */
export type GroupCounts = { writes: number; items: number }

type Waiting<Item> = { item: Item; written: () => void; failed: (error: unknown) => void }

/**
 * Writes items in groups: what arrives while a write is under way makes up the next one.
 * @param write one write; when it fails, so does each of its items
 * @param options.most items of one write
 * @param options.restMs pause after a write that left few waiting, for what nobody waits for
 */
export function createGroupCommit<Item>(
  write: (items: Item[]) => Promise<void>,
  { most, restMs = 0 }: { most: number; restMs?: number },
): { add(item: Item): Promise<void>; counts(): GroupCounts } {
  const waiting: Waiting<Item>[] = []
  const counts: GroupCounts = { writes: 0, items: 0 }
  let busy = false

  async function writeOne(group: Waiting<Item>[]): Promise<void> {
    counts.writes++
    counts.items += group.length
    try {
      await write(group.map(({ item }) => item))
      for (const { written } of group) written()
    } catch (error) {
      for (const { failed } of group) failed(error)
    }
  }

  async function writeAll(): Promise<void> {
    while (waiting.length > 0) {
      await writeOne(waiting.splice(0, most))
      if (restMs > 0 && waiting.length < most) await new Promise((resolve) => setTimeout(resolve, restMs))
    }
    busy = false
  }

  return {
    add(item) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      waiting.push({ item, written: resolve, failed: reject })
      if (!busy) {
        busy = true
        setImmediate(() => void writeAll())
      }
      return promise
    },
    counts: () => ({ ...counts }),
  }
}
