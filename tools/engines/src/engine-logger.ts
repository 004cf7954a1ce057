/** Logger of the engines; a pino logger fits. */
export type EngineLogger = {
  info(fields: Record<string, unknown>, message: string): void
  warn(fields: Record<string, unknown>, message: string): void
  error(fields: Record<string, unknown>, message: string): void
}

const nothing = () => {}

export const silentLogger: EngineLogger = { info: nothing, warn: nothing, error: nothing }
