import type { Collection } from 'mongodb'
import type { RefreshDocument } from './documents.ts'

/**
 * Ends chains of refresh tokens. In two passes: whoever makes a link looks afterwards whether the one before it is still there, so
 * what the first pass came too early to see is there for the second.
 */
export async function endChains(
  refreshTokens: Collection<RefreshDocument>,
  which: { family: string } | { userId: string },
): Promise<void> {
  await refreshTokens.deleteMany(which)
  await refreshTokens.deleteMany(which)
}
