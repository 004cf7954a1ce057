/** Runs `work` while errors are made without a stack: where very many are made, and nobody reads where. */
export async function withoutStackTraces<Result>(work: () => Promise<Result>): Promise<Result> {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return await work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}
