import type { Cleanup } from '@pitboss/bench/harness/cleanup'
import type { ClientsAtWork } from './clients-at-work.ts'

/** One step. What it returns is printed beside what clients saw, a line for each. */
export type Step = {
  readonly name: string
  /** Whether nobody can be served before a later step. */
  readonly playIsOff?: boolean
  run(): Promise<string | readonly string[]>
}

/** Flags of the command line. */
export type RehearsalOptions = {
  /** Commit of the older build; null for a rehearsal with this build alone. */
  readonly from: string | null
}

/** What people do to a running product, or what happens to it, step by step with clients at work. */
export type Rehearsal = {
  /** Line of the usage. */
  readonly about: string
  /** Last line when all went well. */
  readonly success: string
  /** Starts the product in `folder` with clients at work. */
  open(
    folder: string,
    cleanup: Cleanup,
    options: RehearsalOptions,
  ): Promise<{ readonly clients: ClientsAtWork; readonly steps: readonly Step[] }>
}
