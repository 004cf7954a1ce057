/** A further command goes out beside one that takes longer than this. */
const besideMs = 10

/**
 * Creates the turns of commands that gather what waits: one is under way, and a further one while the last of
 * them is older than 10 ms; what waits meanwhile is the next one's, which begins once one has ended. No timer
 * for a single caller: it waits for nothing. Source: ours.
 */
export function createCommandTurns({
  isWaiting,
  begin,
  commandsMax,
  steadyMs,
}: {
  isWaiting: () => boolean
  /** Begins a command with what waits, if it still does. Its promise never rejects. */
  begin: () => Promise<void> | null
  /** Most commands under way. */
  commandsMax: number
  /** Milliseconds of a clock that never jumps. */
  steadyMs: () => number
}) {
  let underWay = 0
  let lastBeganMs = 0
  let restUntilMs = 0
  let isPlanned = false
  let timer: NodeJS.Timeout | null = null

  /** Looks at the end of this turn, with all that it asks for, whether a command may begin. */
  function plan(): void {
    if (isPlanned || !isWaiting()) return
    isPlanned = true
    setImmediate(look)
  }

  function look(): void {
    isPlanned = false
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (!isWaiting() || underWay >= commandsMax) return
    const besideAtMs = underWay === 0 ? 0 : lastBeganMs + besideMs
    const waitMs = Math.max(restUntilMs, besideAtMs) - steadyMs()
    if (waitMs > 0) timer = setTimeout(look, waitMs)
    else beginNext()
  }

  function beginNext(): void {
    const command = begin()
    if (command === null) return
    underWay += 1
    lastBeganMs = steadyMs()
    void command.then(() => {
      underWay -= 1
      plan()
    })
    plan()
  }

  return {
    plan,
    /** Lets none begin for so many milliseconds. */
    rest(ms: number): void {
      restUntilMs = steadyMs() + ms
    },
  }
}

type GroupParts<Asked, Result> = {
  /** Answers a group in its order; what it throws reaches all who asked. */
  readonly run: (group: readonly Asked[]) => Promise<readonly (Result | Promise<Result>)[]>
  readonly groupMax: number
  readonly commandsMax: number
}

/**
 * Gathers what the callers of one process ask for into few commands: while one is under way, the rest waits
 * for the next, which begins after it was asked for. No timer: a single caller waits for nothing.
 * Source: ours.
 */
export function createGroup<Asked, Result>({ run, groupMax, commandsMax }: GroupParts<Asked, Result>) {
  let waiting: { readonly asked: Asked; readonly end: PromiseWithResolvers<Result> }[] = []
  const steadyMs = () => performance.now()
  const { plan } = createCommandTurns({ isWaiting: () => waiting.length > 0, begin, commandsMax, steadyMs })

  async function begin(): Promise<void> {
    const group = waiting.slice(0, groupMax)
    waiting = waiting.slice(groupMax)
    try {
      const results = await run(group.map(({ asked }) => asked))
      for (const [index, result] of results.entries()) group[index]?.end.resolve(result)
    } catch (error) {
      for (const { end } of group) end.reject(error)
    }
  }

  return (asked: Asked): Promise<Result> => {
    const end = Promise.withResolvers<Result>()
    waiting.push({ asked, end })
    plan()
    return end.promise
  }
}
