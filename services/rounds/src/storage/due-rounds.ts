import type { IndexDeclaration } from '@pitboss/storage/ensure-indexes'
import type { Collection, Filter } from 'mongodb'
import { waitMaxMs } from '../rules/due-at.ts'
import { decodeRound, type RoundDocument, roundKey, type StoredRound } from './round-document.ts'

const epoch = new Date(0)
/** The least number of due rounds that a tenant has in one look. */
const shareMin = 8

/** The due rounds of each tenant, longest due first; declared with the indexes of rounds. */
export const dueIndex: IndexDeclaration = {
  key: { scope: 1, dueAt: 1 },
  name: 'scope_due',
  partialFilterExpression: { dueAt: { $gt: epoch } },
}

/**
 * Due rounds, a page for each tenant, and the tenant after which the next look goes on ("": from the start).
 */
export type DueRounds = {
  readonly pages: readonly (readonly StoredRound[])[]
  readonly sweptTo: string
  readonly mayHaveMore: boolean
}

/** Creates the part of the store of rounds that workers use. */
export function createDueRounds({ rounds }: { rounds: Collection<RoundDocument> }) {
  return {
    /**
     * Rounds that are due, longest due first, in a page for each tenant; `claim` decides which worker takes
     * one. It reads the tenants after `after`, at most `tenantsMax`, and `roundsMax` rounds among them all.
     * @param misdated reads those, too, that owe something and are due later than any delay: a clock that was
     * ahead has written that time
     */
    async findDue(
      now: Date,
      {
        after,
        tenantsMax,
        roundsMax,
        misdated,
      }: { after: string; tenantsMax: number; roundsMax: number; misdated: boolean },
    ): Promise<DueRounds> {
      const dueNow = { $gt: epoch, $lte: now }
      const scopes: string[] = []
      while (scopes.length < tenantsMax) {
        const next = await rounds
          .find({ scope: { $gt: scopes.at(-1) ?? after }, dueAt: dueNow }, { projection: { scope: 1 } })
          .sort({ scope: 1, dueAt: 1 })
          .hint('scope_due')
          .limit(1)
          .next()
        if (next === null) break
        scopes.push(next.scope)
      }
      const share = Math.max(shareMin, Math.floor(roundsMax / Math.max(1, scopes.length)))
      const read = (filter: Filter<RoundDocument>) =>
        rounds.find(filter).sort({ scope: 1, dueAt: 1 }).hint('scope_due').limit(share).toArray()
      const pages = await Promise.all(scopes.map((scope) => read({ scope, dueAt: dueNow })))
      if (misdated) pages.push(await read(misdatedAt(now)))
      const wasFull = scopes.length === tenantsMax
      return {
        pages: pages.map((page) => page.map(decodeRound)),
        sweptTo: wasFull ? (scopes.at(-1) ?? '') : '',
        mayHaveMore: wasFull || after !== '' || pages.some(({ length }) => length === share),
      }
    },

    /** Takes a round for this worker by moving its due time; null when another was first. */
    async claim(stored: StoredRound, until: Date): Promise<StoredRound | null> {
      const { matchedCount } = await rounds.updateOne(
        { ...roundKey(stored.round), version: stored.version, dueAt: stored.dueAt },
        { $set: { dueAt: until }, $inc: { checks: 1, claims: 1 } },
      )
      const { checks, claims } = stored
      return matchedCount === 1 ? { ...stored, dueAt: until, checks: checks + 1, claims: claims + 1 } : null
    },

    /** Moves the due time of a round that its worker has claimed, unless the round has changed since. */
    async postpone({ round, version, dueAt, claims }: StoredRound, until: Date): Promise<void> {
      const unchanged = { ...roundKey(round), version, dueAt, claims }
      await rounds.updateOne(unchanged, { $set: { dueAt: until } })
    },
  }
}

/** The filter for rounds that owe something and whose due time lies further ahead than any delay. */
function misdatedAt(now: Date): Filter<RoundDocument> {
  return {
    dueAt: { $gt: new Date(now.getTime() + waitMaxMs) },
    $or: [{ status: { $ne: 'OPEN' } }, { driver: 'operator' }, { 'reversals.state': 'OWED' }],
  }
}
