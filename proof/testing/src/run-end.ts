type Suite = { teardown(fn: () => Promise<void>): void }

let ends: (() => Promise<void>)[] | null = null

/** Opens what `endWithRun` adds to: a worker of `npm test`, which runs many files, does so at its start. */
export function openRun(): void {
  ends = []
}

/** How many things the files of this process share by now. */
export const sharedCount = () => ends?.length ?? 0

/** Ends what the files of this process have shared, the newest first. */
export async function endRun(): Promise<void> {
  for (const end of ends?.toReversed() ?? []) await end()
  ends = null
}

/** Ends something with the last file of this process; in a file that is run by itself, with its suite. */
export function endWithRun(t: Suite, end: () => Promise<void>): void {
  if (ends === null) t.teardown(end)
  else ends.push(end)
}
