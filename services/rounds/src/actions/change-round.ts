import type { CallContext } from '@pitboss/contracts/call'
import { scopeOf } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { changeFenced } from '@pitboss/storage/change-fenced'
import type { PlayContext } from '../context.ts'
import { roundEndedLine, roundEvents } from '../records/present-round.ts'
import { roundContext } from '../rules/catalogue.ts'
import { dueAt } from '../rules/due-at.ts'
import { type Known, movementMessage } from '../rules/movement.ts'
import { refusedError } from '../rules/refusal.ts'
import type { RoundChange, RoundContext, RoundMessage } from '../rules/round-message.ts'
import { hasMovement, isUnfinished, openMovementIds, type RoundState } from '../rules/round.ts'
import { type RoundWrite, sequenceOf, type StoredRound } from '../storage/round-document.ts'

const triesMax = 12
const withdrawalsMax = 5

/** Inserts a new round. Null when another round is unfinished, or the nonce or the id is taken. */
export async function openRound(
  context: PlayContext,
  { round, ...commitments }: { readonly round: RoundState } & Parameters<PlayContext['rounds']['insert']>[1],
) {
  const { rounds, scaleMs, memory } = context
  const due = dueAt(round, { now: round.createdAt, checks: 0, scaleMs })
  memory.changes.set(round.id, round.updatedAt)
  return rounds.insert({ round, dueAt: due }, commitments)
}

/** Applies a message once. @throws ServiceError the rules' refusal; ROUND_NOT_FOUND; SERVICE_UNAVAILABLE */
export async function applyMessage(context: PlayContext, stored: StoredRound, message: RoundMessage) {
  return (await applyAndReport(context, stored, message)).stored
}

/** As `applyMessage`; not `changed`: an equal request was first, and the movement is not the caller's. */
export async function applyAndReport(context: PlayContext, stored: StoredRound, message: RoundMessage) {
  const { rounds, rules, memory } = context
  const { round } = stored
  return memory.inTurn(round.id, () =>
    changeFenced<StoredRound, { stored: StoredRound; changed: boolean }>({
      document: stored,
      async change(current) {
        const result = rules(current.round, message, contextOf(context, current.round))
        if (result.kind === 'unchanged') return { stored: current, changed: false }
        if (result.kind === 'refused') throw refusedError(result)
        const written = await rounds.update(current, writeOf(context, result))
        if (written === null) return null
        afterWrite(context, result, message)
        return { stored: written, changed: true }
      },
      async reread() {
        const fresh = await rounds.find(scopeOf(round), round.id)
        if (fresh === null) throw new ServiceError('ROUND_NOT_FOUND')
        return fresh
      },
      triesMax,
      name: `round ${round.id}`,
    }),
  )
}

/** Applies a certain state of a movement. Clients choose ids: a movement of another round changes nothing. */
export async function applyMovement(context: PlayContext, stored: StoredRound, known: Known) {
  const isOwn = known.movement.round_id === stored.round.id
  const message = isOwn ? movementMessage(known) : null
  return message === null ? stored : applyMessage(context, stored, message)
}

/** Learns how movements stand. Called before a request is judged by the state of a round. */
export async function refreshMovements(
  context: PlayContext,
  stored: StoredRound,
  call?: CallContext,
  transactionIds: Iterable<string> = openMovementIds(stored.round),
): Promise<StoredRound> {
  let current = stored
  for (const transactionId of transactionIds) {
    const shown = await context.wallet.show(scopeOf(stored.round), transactionId, call)
    if (shown !== null) current = await applyMovement(context, current, shown)
  }
  return current
}

/** As `refreshMovements`, with taken stakes; called when wallet-bridge refuses what the round allowed. */
export async function refreshAll(context: PlayContext, stored: StoredRound, call?: CallContext) {
  const { round } = stored
  const stakes = round.stakes.map(({ transactionId }) => transactionId)
  return refreshMovements(context, stored, call, new Set([...stakes, ...openMovementIds(round)]))
}

/**
 * Takes back an intent that wallet-bridge has certainly not written, unless a worker has claimed it since.
 * @param intended the round when the intent had been stored. @returns false when the intent stays
 */
export async function withdrawIntent(context: PlayContext, intended: StoredRound, transactionId: string) {
  const { rounds, rules, logger } = context
  let current = intended
  for (let tries = 0; tries < withdrawalsMax && current.claims === intended.claims; tries++) {
    const message = { type: 'withdraw', transactionId } as const
    const result = rules(current.round, message, contextOf(context, current.round))
    if (result.kind !== 'changed') return !hasMovement(current.round, transactionId)
    if (await rounds.withdrawMovement(current, writeOf(context, result))) {
      afterWrite(context, result, message)
      return true
    }
    const fresh = await rounds.find(scopeOf(current.round), current.round.id)
    if (fresh === null) break
    current = fresh
  }
  logger.warn({ round_id: intended.round.id, transaction_id: transactionId }, 'intent.left-to-sweeper')
  return false
}

function contextOf({ commitments, catalogue, clock }: PlayContext, round: RoundState): RoundContext {
  const openSeed = () => commitments.open(sequenceOf(round), round.nonce, round.sealedSeed)
  return roundContext(round, { catalogue, now: clock.now(), openSeed })
}

type Change = Extract<RoundChange, { kind: 'changed' }>

function writeOf({ catalogue, newId, scaleMs }: PlayContext, { round, events, fact }: Change): RoundWrite {
  // The version of the game's rules that this process plays by.
  const rules = catalogue.find(round.game)?.game.version ?? ''
  return {
    round,
    dueAt: dueAt(round, { now: round.updatedAt, checks: 0, scaleMs }),
    events: roundEvents(round, events),
    fact: fact === null ? null : { ...fact, id: newId('fct'), rules },
  }
}

function afterWrite({ memory, logger }: PlayContext, { round }: Change, message: RoundMessage): void {
  memory.changes.set(round.id, round.updatedAt)
  if (!isUnfinished(round)) logger.info(roundEndedLine(round, message.type), 'round.ended')
}
