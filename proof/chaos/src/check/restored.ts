import type { Told } from '../answers.ts'
import { groupBy } from './group.ts'
import { heldNonces, type LostPlace } from './held-nonces.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  stake: 'restore: a stake whose round is lost went back, unless the round had ended or paid',
  win: 'restore: a round that we play is paid once',
  nonce: 'restore: the nonce of a lost round is given to no later one, if a stake or an event tells of it',
} as const

/** A service whose database a run may set back. */
export type RestoredService = 'rounds' | 'wallet-bridge' | 'webhooks'

/** Databases were set back to copies. */
export type Restored = {
  readonly services: readonly RestoredService[]
  /** By `<operatorId>/<environment>`, as services write it. */
  readonly parts: Map<string, RestoredPart>
}

/** What one account's environment lost by it. */
export type RestoredPart = {
  readonly services: readonly RestoredService[]
  /** Rounds that began since the copy. */
  readonly lost: Map<string, LostPlace>
  /** Rounds of operators' servers that went on since: what happened in them is lost. */
  readonly changed: Set<string>
  /** Ids of both: answers about them were true before. */
  readonly transactionIds: Set<string>
  /** Movements that wallet-bridge lost, or knew as they were before, with their rounds. */
  readonly movements: Map<string, string>
}

export function nothingLost(services: readonly RestoredService[]): RestoredPart {
  return { services, lost: new Map(), changed: new Set(), transactionIds: new Set(), movements: new Map() }
}

/** Whether an answer may have become untrue by the restore. Its money is checked all the same. */
export function isExcused({ id, asked, answer }: Told, restored: RestoredPart | null): boolean {
  if (restored === null) return false
  const { lost, changed, transactionIds } = restored
  const { resource } = answer.body
  const inner = typeof resource === 'object' && resource !== null ? Object.values(resource) : []
  const named = [id, asked.reference_transaction_id, asked.round_id, answer.body.round_id, ...inner]
  return named.some(
    (one) => typeof one === 'string' && (lost.has(one) || changed.has(one) || transactionIds.has(one)),
  )
}

/**
 * The movements whose records may say less than the operator's ledger: stakes that the service took back by
 * itself, of which nothing stands, and those that went with what rounds knew of them. Source:
 * docs/runbook.md, "A restored backup".
 */
export function forgottenIds({
  restored,
  movements,
  ledger,
}: Pick<Sources, 'restored' | 'movements' | 'ledger'>): ReadonlySet<string> {
  if (restored === null) return new Set()
  const known = new Set(movements.map(({ transaction_id: id }) => id))
  const standing = new Set(
    ledger.flatMap(({ operation, status, transaction_id: id }) =>
      operation !== 'rollback' && status === 'APPLIED' ? [id] : [],
    ),
  )
  const { lost, changed, transactionIds } = restored
  const isForgotten = ([id, roundId]: [string, string]) =>
    known.has(id)
      ? changed.has(roundId) || transactionIds.has(id)
      : changed.has(roundId) || lost.has(roundId) || !standing.has(id)
  return new Set([...restored.movements].filter(isForgotten).map(([id]) => id))
}

/** The promises that outlast a database of rounds that was set back and healed. docs/runbook.md. */
export function checkRestored(
  { restored, rounds, movements, events }: Pick<Sources, 'restored' | 'rounds' | 'movements' | 'events'>,
  verdict: Verdict,
): void {
  if (restored === null) return
  const byRound = groupBy(movements, ({ round_id }) => round_id)
  const ofRounds = events.filter(({ type }) => type.startsWith('round.'))
  const told = new Set(ofRounds.map(({ data }) => String(data.round_id)))
  const ended = new Set(
    ofRounds.flatMap(({ type, data }) => (type === 'round.completed' ? [String(data.round_id)] : [])),
  )
  const show = (roundId: string) =>
    `${roundId}: ${(byRound.get(roundId) ?? []).map(({ type, transaction_id, status }) => `${type} ${transaction_id} ${status}`).join('; ')}`
  for (const roundId of restored.lost.keys()) {
    const own = byRound.get(roundId) ?? []
    const stands = own.some(({ type, status }) => type === 'BET' && status === 'SUCCESS')
    const paid = own.some(({ type, status }) => type === 'WIN' && status === 'SUCCESS')
    verdict.check(names.stake, !stands || ended.has(roundId) || paid, () => show(roundId))
  }
  const operators = new Set(
    rounds.filter(({ driver }) => driver === 'operator').map(({ round_id }) => round_id),
  )
  for (const [roundId, own] of byRound) {
    if (operators.has(roundId) || restored.lost.has(roundId)) continue
    const wins = own.filter(({ type, status }) => type === 'WIN' && status === 'SUCCESS')
    verdict.check(names.win, wins.length <= 1, () => show(roundId))
  }
  const given = new Map(
    rounds.map(({ player_id, game, fairness, round_id }) => [
      `${player_id}/${game}/${fairness.nonce}`,
      round_id,
    ]),
  )
  const hasStake = (roundId: string) => byRound.get(roundId)?.some(({ type }) => type === 'BET') ?? false
  const isTold = (roundId: string) => told.has(roundId)
  for (const [roundId, { sequence, nonce }] of heldNonces(restored.lost, { isTold, hasStake })) {
    const other = given.get(`${sequence}/${nonce}`)
    // An intent that had been taken back may be there again: it never gets a stake.
    verdict.check(
      names.nonce,
      other === undefined || other < roundId,
      () => `nonce ${nonce} of ${roundId} and of ${other}`,
    )
  }
}
