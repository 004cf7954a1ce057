import { scopeKey } from '@pitboss/contracts/caller'
import type { GrantDocument } from '@pitboss/rounds/storage/grants-store'
import type { Machine } from './machine.ts'
import { type GrantUses, scope } from './world.ts'

export type ModelGrants = {
  readonly table: ReadonlyMap<string, GrantDocument>
  /** Whether the uses were set back, and the rounds whose use was lost with that. */
  readonly isRestored: boolean
  readonly forgotten: ReadonlySet<string>
  storeOf(machine: Machine): GrantUses
  /** Grants free bets, as the operator does before the run. */
  give(
    grant: Pick<GrantDocument, '_id' | 'playerId' | 'game' | 'currency' | 'stake' | 'count' | 'endsAt'>,
  ): void
  /** Sets the uses back to those of a backup; what was granted since stays. */
  restore(backup: ReadonlyMap<string, GrantDocument>): void
}

/**
 * The collection of free-bet grants, with the promises of storage/grants-store.ts: a use is one atomic
 * step, counted once per round, and so is its return; a round that was refused one never gets one. Whether a
 * round that took none just now had taken one before is a look of its own, as there.
 */
export function createModelGrants({ now }: { now: () => Date }): ModelGrants {
  const table = new Map<string, GrantDocument>()
  const forgotten = new Set<string>()
  let isRestored = false

  const isUsable = ({ remaining, cancelledAt, endsAt }: GrantDocument, at: Date) =>
    remaining > 0 && cancelledAt === null && endsAt > at

  /** The grant, while the round has neither taken a free bet of it nor been refused one. */
  const undecided = (grantId: string, roundId: string) => {
    const grant = table.get(grantId)
    const isDecided = grant?.uses.includes(roundId) === true || grant?.closedTo?.includes(roundId) === true
    return isDecided ? undefined : grant
  }

  return {
    table,
    forgotten,
    get isRestored() {
      return isRestored
    },
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
          const grant = undecided(grantId, roundId)
          if (grant === undefined || !isUsable(grant, at)) return false
          const { remaining, uses } = grant
          table.set(grantId, { ...grant, remaining: remaining - 1, uses: [...uses, roundId] })
          return true
        })
        if (used) return true
        await machine.io('close grant', () => {
          const grant = undecided(grantId, roundId)
          if (grant !== undefined) table.set(grantId, closedTo(grant, roundId))
        })
        return machine.io('find use', () => table.get(grantId)?.uses.includes(roundId) === true)
      },
      giveBack: (_scope, grantId, roundId) =>
        machine.io('give grant back', () => {
          const grant = table.get(grantId)
          if (grant === undefined || !grant.uses.includes(roundId)) return
          const uses = grant.uses.filter((use) => use !== roundId)
          table.set(grantId, closedTo({ ...grant, remaining: grant.remaining + 1, uses }, roundId))
        }),
    }),
    restore(backup) {
      isRestored = true
      for (const [id, grant] of backup) {
        const lost = table.get(id)?.uses.filter((use) => !grant.uses.includes(use)) ?? []
        for (const roundId of lost) forgotten.add(roundId)
        table.set(id, grant)
      }
    },
    give(grant) {
      table.set(grant._id, {
        ...grant,
        scope: scopeKey(scope),
        environment: scope.environment,
        remaining: grant.count,
        uses: [],
        createdAt: now(),
        expiresAt: null,
        cancelledAt: null,
      })
    },
  }
}

function closedTo(grant: GrantDocument, roundId: string): GrantDocument {
  return { ...grant, closedTo: [...(grant.closedTo ?? []), roundId] }
}
