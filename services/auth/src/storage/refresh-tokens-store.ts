import type { Db } from 'mongodb'

type RefreshTokenDocument = {
  /** Hash of the cookie's value. */
  _id: string
  userId: string
  /** All refresh tokens that come from one login have the same family. */
  family: string
  usedAt: Date | null
  expiresAt: Date
  /** Absent in a token of an earlier release, whose sign-in has no session yet. */
  sessionEndsAt?: Date
}

/**
 * Refresh tokens, each good for one use. A token is found by the candidates for its hash, one for each master
 * key.
 */
export function createRefreshTokensStore({ db }: { db: Db }) {
  const refreshTokens = db.collection<RefreshTokenDocument>('refresh_tokens')
  return {
    insert: async (token: RefreshTokenDocument): Promise<void> => {
      await refreshTokens.insertOne(token)
    },

    /** Used and expired tokens, too. */
    find: (hashes: readonly string[]) => refreshTokens.findOne({ _id: { $in: [...hashes] } }),

    /** Marks a token as used. Null when it is unknown, expired or used already. */
    use: (hashes: readonly string[], now: Date) =>
      refreshTokens.findOneAndUpdate(
        { _id: { $in: [...hashes] }, usedAt: null, expiresAt: { $gt: now } },
        { $set: { usedAt: now } },
      ),

    /**
     * Removes a family, or all tokens of a person. It deletes twice: a refresh inserts its new token before
     * it looks whether the old one is still there, and the second deletion finds a token that the first came
     * too early for.
     */
    async end(which: { family: string } | { userId: string }): Promise<void> {
      await refreshTokens.deleteMany(which)
      await refreshTokens.deleteMany(which)
    },
  }
}
