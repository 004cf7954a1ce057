/** Maps with at most `atOnce` calls under way, results in order. Rejects with the first failure. */
export async function mapBounded<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  fn: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  const queue = items.entries()
  const work = async () => {
    for (const [index, item] of queue) results[index] = await fn(item)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, work))
  return results
}
