import { orderedBy } from '@pitboss/contracts/audit'
import type { playerDataKind } from '@pitboss/contracts/calls/rounds'
import type { Scope } from '@pitboss/contracts/caller'
import type { AuditOutbox } from '@pitboss/storage/audit-outbox'
import { withinBytes } from '@pitboss/storage/read-page'
import type { z } from 'zod'
import { presentFreeBet } from '../records/present-free-bet.ts'
import { presentRound, roundBytes } from '../records/present-round.ts'
import { presentSession } from '../records/present-session.ts'
import { presentStop } from '../records/present-stop.ts'
import type { GrantsStore } from '../storage/grants-store.ts'
import type { StopsStore } from '../storage/stops-store.ts'
import type { Parts } from './parts.ts'
import type { PlayerLimits } from './player-limits.ts'

type Order = { readonly by: string; readonly reason: string | null; readonly dryRun: boolean }
type Kind = z.infer<typeof playerDataKind>

const pageMax = 100
/** Idempotency keys show a session again for 24 hours after it was made, as it was. */
const detailsNeededMs = 24 * 60 * 60 * 1000

export type PlayerData = ReturnType<typeof createPlayerData>

/**
 * Creates what operations do when a player asks for his data, or for its erasure. What money records and
 * proofs need stays. Source: docs/data.md.
 */
export function createPlayerData({
  rounds,
  sessions,
  grants,
  stops,
  limits,
  audit,
  clock,
}: Pick<Parts, 'rounds' | 'sessions' | 'clock'> & {
  readonly grants: Pick<GrantsStore, 'list'>
  readonly stops: Pick<StopsStore, 'list'>
  readonly limits: Pick<PlayerLimits, 'show'>
  readonly audit: Pick<AuditOutbox, 'entry' | 'store'>
}) {
  return { page, erase }

  /** A page of one kind of the player's records, newest first, and where the next one begins. */
  async function page(
    scope: Scope,
    playerId: string,
    kind: Kind,
    before: string | null,
  ): Promise<{ data: Record<string, unknown>[]; next: string | null }> {
    const now = clock.now()
    const at = { before, max: pageMax + 1 }
    switch (kind) {
      case 'session': {
        const { items, next } = pageOf(await sessions.list(scope, { playerId }, { ...at, now }), idOf)
        return { data: items.map((one) => presentSession(one, now)), next }
      }
      case 'round': {
        const { items, next } = pageOf(await rounds.list(scope, { playerId }, at), ({ id }) => id, roundBytes)
        return { data: items.map(presentRound), next }
      }
      case 'free_bet': {
        const { items, next } = pageOf(await grants.list(scope, { playerId }, { ...at, now }), idOf)
        return { data: items.map((one) => presentFreeBet(one, now)), next }
      }
      case 'stop': {
        const { items, next } = pageOf(await stops.list(scope, playerId, at), idOf)
        return { data: items.map((one) => presentStop(one, now)), next }
      }
      case 'limits': {
        const record = await limits.show(scope, playerId)
        return { data: record.changes.length === 0 ? [] : [record], next: null }
      }
    }
  }

  /**
   * Erases the details of the player's sessions that ended a day ago or earlier. The order is audited before
   * it is carried out, by number: the audit must not keep what the erasure takes.
   * @returns how many sessions lost details, or would in a dry run, and how many keep them for now
   */
  async function erase(
    { scope, playerId, order }: { scope: Scope; playerId: string; order: Order },
    requestId: string,
  ): Promise<{ erased: number; kept: number }> {
    const endedBy = new Date(clock.now().getTime() - detailsNeededMs)
    const { ended, all } = await sessions.countDetails(scope, playerId, endedBy)
    const kept = all - ended
    if (order.dryRun || ended === 0) return { erased: ended, kept }
    const entry = audit.entry(orderedBy(order, scope.operatorId, requestId), {
      act: 'player.erase',
      object: { type: 'player', id: playerId },
      before: null,
      after: { environment: scope.environment, sessions: ended },
    })
    await audit.store(entry)
    return { erased: await sessions.eraseDetails(scope, playerId, endedBy), kept }
  }
}

function idOf({ _id }: { readonly _id: string }): string {
  return _id
}

function pageOf<Item>(
  found: readonly Item[],
  positionOf: (item: Item) => string,
  bytesOf: (item: Item) => number = () => 0,
): { items: Item[]; next: string | null } {
  const items = withinBytes(found.slice(0, pageMax), bytesOf)
  const last = items.at(-1)
  return { items, next: found.length > items.length && last !== undefined ? positionOf(last) : null }
}
