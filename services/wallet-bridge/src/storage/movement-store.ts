import type { AuditEntry } from '@pitboss/contracts/audit'
import type { Scope } from '@pitboss/contracts/caller'
import { roundMovementsMax } from '@pitboss/contracts/calls/wallet-ops'
import { type ServiceError, tryAgain } from '@pitboss/errors/service-error'
import { BoundedMap } from '@pitboss/runtime/bounded-map'
import { createMailbox } from '@pitboss/runtime/mailbox'
import * as journals from '@pitboss/storage/journal/journal'
import { entryNumber, type StreamKey } from '@pitboss/storage/journal/journal-keys'
import type { RenderedEvent } from '@pitboss/storage/rendered-event'
import { movementIdOf } from '../rules/movement-keys.ts'
import type { StakeStanding } from '../rules/movement.ts'
import * as roundMoney from './round-money.ts'
import type { ListedMovements } from './listed-movements.ts'
import type { MovementDocument } from './movement-document.ts'
import type { UnfinishedMovements } from './unfinished-movements.ts'

type Refused = { readonly refused: ServiceError }

/** `taken`: its id has a movement; `round-busy`: another call is in flight; `stale`: the other changed. */
export type Inserted = MovementDocument | 'taken' | 'round-busy' | 'stale' | Refused

export type InsertOptions = {
  /** It may be the first movement of its round: nothing is read before it. */
  readonly isFirst?: boolean
  /** Refuses the movement by the stakes that its round has when it would be stored. */
  readonly check?: (stakes: readonly StakeStanding[]) => ServiceError | null
  readonly audit?: AuditEntry
  /** Changed in the same entry. */
  readonly also?: roundMoney.AlsoChanged
}

export type MovementStore = ReturnType<typeof createMovementStore>

/** Movements of which the process remembers the round. */
const streamsMax = 50_000

type Decide = (money: roundMoney.RoundMoney) => journals.Decided<roundMoney.MoneyFact> | null
type Changed = Exclude<journals.Changed<roundMoney.RoundMoney, roundMoney.MoneyFact>, { kind: 'unknown' }>

type MovementParts = {
  readonly journal: journals.Journal<roundMoney.MoneyFact>
  readonly unfinished: Pick<UnfinishedMovements, 'own' | 'leave'>
  readonly lists: Pick<ListedMovements, 'find' | 'ofRound' | 'confirmPrimary'>
  /** Resolves when the list documents of the stream stand at the entry of that number. */
  readonly isListed: (stream: StreamKey, number: number) => Promise<void>
  readonly hasEarlier?: () => boolean
  readonly onAudit?: (auditId: string) => void
}

/** The movements of all rounds over the journal; those of earlier builds are read from the lists. */
export function createMovementStore({ journal, unfinished, lists, isListed, ...options }: MovementParts) {
  const { hasEarlier = () => false, onAudit = () => undefined } = options
  const streams = new BoundedMap<string, StreamKey>(streamsMax)
  const inTurn = createMailbox()
  const untilMs = () => journal.steadyMs() + roundMoney.appendWithinMs

  /** The round's money as a majority has it now. */
  async function read(stream: StreamKey): Promise<roundMoney.RoundMoney> {
    const { entries, last } = await journals.reload(journal, stream)
    if (entries.at(-1)?.o !== journal.instance()) unfinished.leave(stream, last)
    return roundMoney.moneyOf(entries)
  }

  /** Makes entries of the movements of a round that an earlier build stored, if there are none. */
  async function bringOver(about: MovementDocument): Promise<void> {
    const stream = roundMoney.moneyStream(about)
    if (!hasEarlier() || (await journals.load(journal, stream)).last > 0) return
    const found = await lists.ofRound(about, about.roundId, roundMovementsMax)
    const decided = roundMoney.firstEntryOf(found.filter(({ n }) => n === 0))
    if (decided !== null) await journals.append(journal, stream, 0, decided, untilMs())
  }

  function changeMoney(about: MovementDocument, decide: Decide): Promise<Changed> {
    const stream = roundMoney.moneyStream(about)
    const fold = { none: roundMoney.noMoney, evolve: roundMoney.evolveMoney, decide }
    return inTurn(stream, async () => {
      const changed = await journals.change(journal, stream, fold, untilMs())
      if (changed.kind === 'unknown')
        throw tryAgain(`it is not known whether the step of ${about.reference} stands`)
      if (changed.kind !== 'changed') return changed
      note(stream, changed.state, entryNumber(changed.entry._id))
      if (changed.entry.au !== undefined) onAudit(changed.entry.au.audit_id)
      return changed
    })
  }

  function note(stream: StreamKey, money: roundMoney.RoundMoney, last: number): void {
    const movements = [...money.values()]
    for (const { _id } of movements) streams.set(_id, stream)
    unfinished.own(movements, last)
  }

  async function streamOf(id: string): Promise<StreamKey | null> {
    const known = streams.get(id)
    if (known !== undefined) return known
    const [claim] = await journal.store.read([roundMoney.claimOf(id).key])
    return claim !== undefined && 's' in claim ? claim.s : null
  }

  async function findById(id: string): Promise<MovementDocument | null> {
    const stream = await streamOf(id)
    if (stream === null) return hasEarlier() ? lists.find(id) : null
    return (await read(stream)).get(roundMoney.transactionIdIn(id)) ?? null
  }

  async function insertOnce(document: MovementDocument, { check, audit, also }: InsertOptions) {
    const { transactionId } = document
    let refusal: Exclude<Inserted, MovementDocument> = 'taken'
    const changed = await changeMoney(document, (money) => {
      // An equal request that was first has changed the other movement, too.
      refusal = 'stale'
      if (also !== undefined && roundMoney.isStale(money, also.document)) return null
      refusal = 'taken'
      if (money.has(transactionId)) return null
      refusal = 'round-busy'
      if (document.call !== null && roundMoney.callingBeside(money, transactionId) !== null) return null
      const refused = check?.([...money.values()].filter(({ type }) => type === 'BET')) ?? null
      if (refused !== null) {
        refusal = { refused }
        return null
      }
      return {
        facts: [{ base: document }, ...(also === undefined ? [] : [roundMoney.alsoOf(money, also)])],
        claims: [roundMoney.claimOf(document._id)],
        ...(audit === undefined ? {} : { audit }),
      }
    })
    if (changed.kind === 'claimed') return 'taken'
    return changed.kind === 'changed' ? (changed.state.get(transactionId) ?? 'taken') : refusal
  }

  return {
    findById,
    find: (scope: Scope, transactionId: string): Promise<MovementDocument | null> =>
      findById(movementIdOf(scope, transactionId)),
    confirmPrimary: (): Promise<void> => lists.confirmPrimary(),
    /** The movements of a round, oldest first. */
    async ofRound(scope: Scope, roundId: string, limit: number): Promise<MovementDocument[]> {
      const money = await read(roundMoney.moneyStream({ ...scope, roundId }))
      if (money.size === 0 && hasEarlier()) return lists.ofRound(scope, roundId, limit)
      const oldestFirst = [...money.values()].toSorted((a, b) => (a.reference < b.reference ? -1 : 1))
      return oldestFirst.slice(0, limit)
    },

    /** Stores a movement and claims its id. @throws ServiceError SERVICE_UNAVAILABLE if that is uncertain */
    async insert(document: MovementDocument, given?: InsertOptions): Promise<Inserted> {
      const { isFirst = false, ...options } = given ?? {}
      if (hasEarlier() && (await lists.find(document._id))?.n === 0) return 'taken'
      const stream = roundMoney.moneyStream(document)
      if (!isFirst) await bringOver(document)
      else if (journal.memory.get(stream) === undefined) {
        const seenMs = journal.steadyMs()
        journal.memory.set(stream, { entries: [], unclaimed: [], last: 0, end: 0, seenMs })
      }
      const inserted = await insertOnce(document, options)
      if (typeof inserted === 'string' || !('refused' in inserted)) return inserted
      // What this process remembered of the round may be old: a refusal is decided on what stands.
      await read(stream)
      return insertOnce(document, options)
    },

    /**
     * Appends a step: the new state, its events and the attempt. @returns null when a movement of the entry
     * changed meanwhile @throws ServiceError SERVICE_UNAVAILABLE when it is not known whether the step stands
     */
    async write(
      document: MovementDocument,
      step: roundMoney.MovementWrite,
    ): Promise<MovementDocument | null | 'round-busy'> {
      if (document.n === 0) await bringOver(document)
      const { transactionId } = document
      let isBusy = false
      const changed = await changeMoney(document, (money) => {
        const stored = money.get(transactionId)
        const { also = null } = step
        if (stored?.n !== document.n || (also !== null && roundMoney.isStale(money, also.document)))
          return null
        isBusy = step.state.call !== null && roundMoney.callingBeside(money, transactionId) !== null
        if (isBusy) return null
        const { facts, ...decided } = roundMoney.decidedOf(stored, document, step)
        return { ...decided, facts: also === null ? facts : [...facts, roundMoney.alsoOf(money, also)] }
      })
      if (changed.kind === 'changed') return changed.state.get(transactionId) ?? null
      return isBusy ? 'round-busy' : null
    },

    /** Appends an event once more to the movement's round. */
    async republish(document: MovementDocument, event: RenderedEvent): Promise<void> {
      await bringOver(document)
      const { transactionId } = document
      const again = { facts: [{ of: transactionId }], events: [{ ...event, again: true }] } as const
      await changeMoney(document, (money) => (money.has(transactionId) ? again : null))
    },

    /** Resolves when lists show the movement as this document does, or as it was later. */
    async listed(document: MovementDocument): Promise<void> {
      if (document.n > 0) await isListed(roundMoney.moneyStream(document), document.n)
    },
  }
}
