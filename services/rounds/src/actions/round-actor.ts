import type { CallContext } from '@pitboss/contracts/call'
import type { MovementOutcome } from '@pitboss/contracts/calls/wallet'
import type { Movement } from '@pitboss/contracts/objects/movement'
import { ServiceError } from '@pitboss/errors/service-error'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import type { Mailbox } from '@pitboss/runtime/mailbox'
import { changeFenced } from '@pitboss/storage/change-fenced'
import type { WalletClient } from '../clients/wallet.ts'
import { roundEndedLine, roundEvents } from '../records/present-round.ts'
import { roundContext } from '../rules/catalogue.ts'
import { dueAt } from '../rules/due-at.ts'
import { movementMessage } from '../rules/movement.ts'
import { refusedError } from '../rules/refusal.ts'
import type { RoundChange, RoundContext, RoundMessage } from '../rules/round-message.ts'
import { hasMovement, isUnfinished, openMovementIds, type RoundState } from '../rules/round.ts'
import { transition } from '../rules/transition.ts'
import type { CommitmentsStore } from '../storage/commitments-store.ts'
import type { LastNonce } from '../storage/round-streams.ts'
import { sequenceOf, type RoundWrite, scopeOf, type StoredRound } from '../storage/round-document.ts'
import type { Parts } from './parts.ts'

export type RoundActorDeps = Pick<
  Parts,
  'rounds' | 'catalogue' | 'clock' | 'newId' | 'scaleMs' | 'logger'
> & {
  commitments: Pick<CommitmentsStore, 'open'>
  wallet: Pick<WalletClient, 'show'>
  mailbox: Mailbox
  /** The rules; others than the real ones are for showing that wrong ones would be noticed. */
  rules?: typeof transition
}

const triesMax = 12
const withdrawalsMax = 5
const changesMax = 10_000

/** A round to be opened, with the commitment of its nonce and of the next one. */
export type MadeRound = {
  readonly round: RoundState
  readonly committedAt: Date
  readonly next: NonNullable<LastNonce['next']>
}

export type RoundActor = ReturnType<typeof createRoundActor>

/** Creates the one place that opens rounds and changes them, a message at a time, by the rules. */
export function createRoundActor({
  rounds,
  commitments,
  wallet,
  catalogue,
  mailbox,
  clock,
  newId,
  scaleMs,
  logger,
  rules = transition,
}: RoundActorDeps) {
  /** The rounds that this replica has changed, and when. */
  const changes = new BoundedMap<string, Date>(changesMax)

  return { open, send, tell, learn, catchUp, review, withdraw, changedAt }

  /**
   * Inserts a new round. Null when the player has an unfinished one, or the nonce or the id is taken.
   * Called by `openIntent` before any money moves.
   */
  async function open({ round, ...commitments }: MadeRound): Promise<StoredRound | null> {
    const due = dueAt(round, { now: round.createdAt, checks: 0, scaleMs })
    changes.set(round.id, round.updatedAt)
    return rounds.insert({ round, dueAt: due }, commitments)
  }

  /**
   * Gives the round a message and answers the round after it. Called for an action of a player, for a free
   * bet that was used or given back, and by workers; a message that is true already changes nothing.
   * @throws ServiceError the refusal of the rules; ROUND_NOT_FOUND when the round was removed meanwhile;
   * SERVICE_UNAVAILABLE when other replicas were first each time
   */
  async function send(stored: StoredRound, message: RoundMessage): Promise<StoredRound> {
    return (await tell(stored, message)).stored
  }

  /**
   * As `send`, for a caller that must know whether this very message changed the round. Called with the
   * movements that an operator's server asks for: `changed` is false when an equal request was first, and its
   * movement is then not this caller's to place.
   */
  async function tell(
    stored: StoredRound,
    message: RoundMessage,
  ): Promise<{ stored: StoredRound; changed: boolean }> {
    return mailbox(stored.round.id, () =>
      change(stored, async (current) => {
        const result = rules(current.round, message, contextOf(current.round))
        if (result.kind === 'unchanged') return { stored: current, changed: false }
        if (result.kind === 'refused') throw refusedError(result)
        const written = await rounds.update(current, writeOf(result))
        if (written === null) return null
        afterWrite(result, message)
        return { stored: written, changed: true }
      }),
    )
  }

  /**
   * Gives the round the state of one of its movements, if it is certain. Called with every answer of
   * wallet-bridge. Clients choose ids, so a movement of another round may have the id: it changes nothing.
   */
  async function learn(
    stored: StoredRound,
    movement: Movement,
    outcome: MovementOutcome,
  ): Promise<StoredRound> {
    const isOwn = movement.round_id === stored.round.id
    const message = isOwn ? movementMessage(movement, outcome) : null
    return message === null ? stored : send(stored, message)
  }

  /** Learns how movements stand. Called before a request is judged by the state of a round. */
  async function catchUp(
    stored: StoredRound,
    context?: CallContext,
    transactionIds: Iterable<string> = openMovementIds(stored.round),
  ): Promise<StoredRound> {
    let current = stored
    for (const transactionId of transactionIds) {
      const shown = await wallet.show(scopeOf(stored.round), transactionId, context)
      if (shown !== null) current = await learn(current, shown.movement, shown.outcome)
    }
    return current
  }

  /** As `catchUp`, with taken stakes, too. Called when wallet-bridge refuses what the round allowed. */
  async function review(stored: StoredRound, context?: CallContext): Promise<StoredRound> {
    const { round } = stored
    const stakes = round.stakes.map(({ transactionId }) => transactionId)
    return catchUp(stored, context, new Set([...stakes, ...openMovementIds(round)]))
  }

  /**
   * Takes back an intent whose own request knows that wallet-bridge has not written it. A worker that has
   * claimed the round since may place it at any time: then the intent is kept and stays owed.
   * @param intended the round as it was when the intent had been stored
   * @returns false when the intent was kept: then it may still have an effect
   */
  async function withdraw(intended: StoredRound, transactionId: string): Promise<boolean> {
    let current = intended
    for (let tries = 0; tries < withdrawalsMax && current.claims === intended.claims; tries++) {
      const message = { type: 'withdraw', transactionId } as const
      const result = rules(current.round, message, contextOf(current.round))
      if (result.kind !== 'changed') return !hasMovement(current.round, transactionId)
      if (await rounds.withdrawMovement(current, writeOf(result))) {
        afterWrite(result, message)
        return true
      }
      const fresh = await rounds.find(scopeOf(current.round), current.round.id)
      if (fresh === null) break
      current = fresh
    }
    logger.warn({ round_id: intended.round.id, transaction_id: transactionId }, 'intent.left-to-sweeper')
    return false
  }

  /** The last change by this replica, if it remembers one; others may have changed the round since. */
  function changedAt(roundId: string): Date | null {
    return changes.get(roundId) ?? null
  }

  /** Decides anew on a fresh copy of the round each time another write was first. */
  function change<Result>(
    stored: StoredRound,
    decide: (current: StoredRound) => Promise<Result | null>,
  ): Promise<Result> {
    const { round } = stored
    return changeFenced({
      document: stored,
      change: decide,
      async reread() {
        const fresh = await rounds.find(scopeOf(round), round.id)
        if (fresh === null) throw new ServiceError('ROUND_NOT_FOUND')
        return fresh
      },
      triesMax,
      name: `round ${round.id}`,
    })
  }

  function contextOf(round: RoundState): RoundContext {
    const openSeed = () => commitments.open(sequenceOf(round), round.nonce, round.sealedSeed)
    return roundContext(round, { catalogue, now: clock.now(), openSeed })
  }

  /** The version of the game's rules that this process plays by. */
  function rulesOf({ game }: RoundState): string {
    return catalogue.find(game)?.game.version ?? ''
  }

  function writeOf({ round, events, fact }: Extract<RoundChange, { kind: 'changed' }>): RoundWrite {
    return {
      round,
      dueAt: dueAt(round, { now: round.updatedAt, checks: 0, scaleMs }),
      events: roundEvents(round, events),
      fact: fact === null ? null : { ...fact, id: newId('fct'), rules: rulesOf(round) },
    }
  }

  function afterWrite({ round }: Extract<RoundChange, { kind: 'changed' }>, message: RoundMessage): void {
    changes.set(round.id, round.updatedAt)
    if (!isUnfinished(round)) logger.info(roundEndedLine(round, message.type), 'round.ended')
  }
}
