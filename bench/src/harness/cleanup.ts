export type Cleanup = {
  add(undo: () => Promise<void> | void): void
  run(): Promise<void>
}

/** Undoes in reverse order, also when the run is interrupted; what fails is said and does not stop the rest. */
export function createCleanup(): Cleanup {
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
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void run().finally(() => process.exit(130)))
  }
  return { add: (undo) => undos.push(undo), run }
}
