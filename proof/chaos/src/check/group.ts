/** The items of each key, in their order. */
export function groupBy<Item>(
  items: readonly Item[],
  key: (item: Item) => string | null,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const at = key(item)
    if (at === null) continue
    const group = groups.get(at)
    if (group === undefined) groups.set(at, [item])
    else group.push(item)
  }
  return groups
}
