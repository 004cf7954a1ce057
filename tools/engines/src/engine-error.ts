/** The exit code of what a person has set wrongly (`EX_CONFIG`). docs/contract.md, section 9. */
export const badSettingExitCode = 78

/** An engine cannot run; the message is one a person can act on, without reading our source. */
export class EngineError extends Error {
  override readonly name = 'EngineError'
  /** Exit code of a process that cannot go on without the engine. */
  readonly exitCode: number

  constructor(message: string, { exitCode = 1, ...options }: ErrorOptions & { exitCode?: number } = {}) {
    super(message, options)
    this.exitCode = exitCode
  }
}

/** The cause in its own words, for a sentence. */
export function reasonOf(error: unknown): string {
  // what fetch throws says nothing itself
  if (error instanceof TypeError && error.cause instanceof Error) return error.cause.message
  return error instanceof Error ? error.message : String(error)
}

/** The system's error code (`ENOENT`, `EADDRINUSE`), null when it carries none. */
export function errorCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error)) return null
  return typeof error.code === 'string' ? error.code : null
}
