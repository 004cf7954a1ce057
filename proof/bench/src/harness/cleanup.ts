export type Cleanup = {
  add(undo: () => Promise<void> | void): void
  run(): Promise<void>
}

/**
 * Undoes in reverse order, also when the run is interrupted; what fails is said and does not stop the rest.
 * With `parent`, a part of a run that is cleaned up by itself: an interruption reaches it through the whole.
 */
export function createCleanup(parent?: Cleanup): Cleanup {
  const undos: (() => Promise<void> | void)[] = []
  let running: Promise<void> | null = null
  const all = async () => {
    for (const undo of undos.splice(0).reverse()) {
      try {
        await undo()
      } catch (error) {
        process.stderr.write(`cleaning up: ${String(error)}\n`)
      }
    }
  }
  const run = () => {
    running ??= all()
    return running
  }
  parent?.add(run)
  const signals = parent === undefined ? (['SIGINT', 'SIGTERM'] as const) : []
  for (const signal of signals) {
    process.once(signal, () => void run().finally(() => process.exit(130)))
  }
  return { add: (undo) => undos.push(undo), run }
}
