import type { GrantDocument } from '@pitboss/rounds/storage/grants-store'
import { scopeKey } from '@pitboss/rounds/storage/round-document'
import type { Machine } from './machine.ts'
import { type GrantUses, scope } from './world.ts'

export type ModelGrants = {
  readonly table: ReadonlyMap<string, GrantDocument>
  storeOf(machine: Machine): GrantUses
  /** Grants free bets, as the operator does before the run. */
  give(grant: Pick<GrantDocument, '_id' | 'playerId' | 'game' | 'stake' | 'count' | 'endsAt'>): void
}

/**
 * The collection of free-bet grants, with the promises of storage/grants-store.ts: a use is one atomic
 * step, counted once per round, and so is its return. Whether a round that took none just now had taken one
 * before is a second look, as there.
 */
export function createModelGrants({ now }: { now: () => Date }): ModelGrants {
  const table = new Map<string, GrantDocument>()

  const isUsable = ({ remaining, cancelledAt, endsAt }: GrantDocument, at: Date) =>
    remaining > 0 && cancelledAt === null && endsAt > at

  return {
    table,
    storeOf: (machine) => ({
      open: (given, { playerId, game, currency }, at) =>
        machine.io('open grants', () =>
          [...table.values()]
            .filter(
              (grant) =>
                grant.scope === scopeKey(given) &&
                grant.playerId === playerId &&
                grant.game === game &&
                grant.currency === currency &&
                isUsable(grant, at),
            )
            .toSorted((a, b) => (a._id < b._id ? -1 : 1)),
        ),
      async use(_scope, grantId, roundId, at) {
        const used = await machine.io('use grant', () => {
          const grant = table.get(grantId)
          if (grant === undefined || !isUsable(grant, at) || grant.uses.includes(roundId)) return false
          const { remaining, uses } = grant
          table.set(grantId, { ...grant, remaining: remaining - 1, uses: [...uses, roundId] })
          return true
        })
        if (used) return true
        return machine.io('find use', () => table.get(grantId)?.uses.includes(roundId) === true)
      },
      giveBack: (_scope, grantId, roundId) =>
        machine.io('give grant back', () => {
          const grant = table.get(grantId)
          if (grant === undefined || !grant.uses.includes(roundId)) return
          const uses = grant.uses.filter((use) => use !== roundId)
          table.set(grantId, { ...grant, remaining: grant.remaining + 1, uses })
        }),
    }),
    give(grant) {
      table.set(grant._id, {
        ...grant,
        scope: scopeKey(scope),
        environment: scope.environment,
        currency: 'USD',
        remaining: grant.count,
        uses: [],
        createdAt: now(),
        expiresAt: null,
        cancelledAt: null,
      })
    },
  }
}
