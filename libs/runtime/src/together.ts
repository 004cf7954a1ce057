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

/** The work under way for a key, and the work that begins once it has ended. */
export type Turns<Result> = Map<string, { running: Promise<Result>; next: Promise<Result> | null }>

/**
 * Returns work for `key` that begins after this call: who asks while some is under way shares the one after
 * it. So the result is never older than its question. Source: ours.
 */
export function togetherNext<Result>(
  turns: Turns<Result>,
  key: string,
  begin: () => Promise<Result>,
): Promise<Result> {
  const present = turns.get(key)
  if (present !== undefined) {
    present.next ??= present.running.then(run, run)
    return present.next
  }
  return run()

  function run(): Promise<Result> {
    const running = begin()
    const turn = { running, next: null }
    turns.set(key, turn)
    const end = () => {
      if (turn.next === null) turns.delete(key)
    }
    running.then(end, end)
    return running
  }
}
