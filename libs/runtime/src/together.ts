/** Returns the work under way for `key`, begun now if there is none. Source: ours. */
export function together<Result>(
  under: Map<string, Promise<Result>>,
  key: string,
  begin: () => Promise<Result>,
): Promise<Result> {
  const begun = under.get(key) ?? begin().finally(() => under.delete(key))
  under.set(key, begun)
  return begun
}
