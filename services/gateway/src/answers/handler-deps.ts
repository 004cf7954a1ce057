import type { Bus } from '@pitboss/bus/connect-bus'
import type { Logger } from 'pino'
import type { AccessState } from '../access/access-state.ts'
import type { Limiters } from '../limits/limiters.ts'

/** What handlers work with. */
export type HandlerDeps = {
  readonly bus: Bus
  readonly access: AccessState
  readonly limiters: Limiters
  /** Without a slash at the end. */
  readonly baseUrl: string
  /** The folder with the built pages; null when they were not built. */
  readonly webFolder: string | null
  readonly logger: Logger
}
