/** A running product and the key pair of an operator's server. */
export type Access = { readonly baseUrl: string; readonly apiKey: string; readonly apiSecret: string }

/** What a client saw of the README's flow. */
export type Seen = {
  readonly sessionId: string
  readonly roundId: string
  /** As the player and as the operator read it. */
  readonly payouts: readonly (string | null)[]
  /** Of its `round.completed`, found by polling. */
  readonly eventId: string
  readonly roll: string
  readonly isValid: boolean
  /** The code of the error that a stake of nothing gets. */
  readonly refusal: string
  /** By the operator's own `BET`, with the fields that it must have. */
  readonly movement: string
}

/** The player's token, in the fragment of a launch url. */
export function playerToken(launchUrl: string): string {
  return new URL(launchUrl).hash.replace('#token=', '')
}

/** Polls until something is there. */
export async function untilFound<T>(poll: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await poll()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
