/** Wakes one waiting loop. A ring without a waiting loop is kept for the next wait. */
export type Signal = {
  ring: () => void
  /** Resolves at a ring or after `timeoutMs`. True for a ring. */
  wait(timeoutMs: number): Promise<boolean>
}

export function createSignal(): Signal {
  let rung = false
  let wake: (() => void) | null = null

  return {
    ring() {
      rung = true
      wake?.()
    },
    async wait(timeoutMs) {
      if (!rung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, Math.max(0, timeoutMs))
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
        wake = null
      }
      const wasRung = rung
      rung = false
      return wasRung
    },
  }
}
