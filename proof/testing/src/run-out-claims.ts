import type { Db } from 'mongodb'

const longAgo = new Date(0)

/**
 * Makes the leases and the claims on jobs of a process that was killed run out now, as they do by themselves
 * some thirty seconds later. No other process may be at work on the database.
 */
export async function runOutClaims(db: Db): Promise<void> {
  await db.collection('leases').updateMany({}, { $set: { expiresAt: longAgo } })
  await db.collection('instances').updateMany({ judgedAt: null }, { $set: { judgedAt: new Date() } })
  for (const jobs of ['certifications', 'reconciliations', 'replays'])
    await db
      .collection(jobs)
      .updateMany({ claimedUntil: { $gt: longAgo } }, { $set: { claimedUntil: longAgo } })
}
