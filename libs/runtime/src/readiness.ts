const checkTimeoutMs = 1000

/** True when fine. A rejection or more than a second count as missing. */
export type ReadinessCheck = () => boolean | Promise<boolean>

export type Readiness = {
  check: (name: string, check: ReadinessCheck) => void
  missing: () => Promise<string[]>
}

/** Named checks; `missing()` names those that fail now, in the order of their registration. Never rejects. */
export function createReadiness(): Readiness {
  const checks = new Map<string, ReadinessCheck>()
  return {
    check(name: string, check: ReadinessCheck): void {
      checks.set(name, check)
    },
    async missing(): Promise<string[]> {
      const results = await Promise.all(
        [...checks].map(async ([name, check]) => ((await passes(check)) ? null : name)),
      )
      return results.filter((name) => name !== null)
    },
  }
}

async function passes(check: ReadinessCheck): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const timedOut = new Promise<false>((resolve) => {
    timer = setTimeout(resolve, checkTimeoutMs, false)
  })
  try {
    return await Promise.race([check(), timedOut])
  } catch {
    return false
  } finally {
    clearTimeout(timer)
  }
}
