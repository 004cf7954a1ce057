/** Shuffles a page, so that two replicas that read the same one seldom work on the same item. */
export function shuffled<Item>(items: readonly Item[], random = Math.random): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ item }) => item)
}
