import { scopeOf } from '@pitboss/contracts/caller'
import type { Settlement } from '../context.ts'
import { freshRollback, reversalDocumentOf } from '../records/new-movement.ts'
import type { MovementMessage, MovementStep } from '../rules/movement.ts'
import type { MovementDocument } from '../storage/movement-document.ts'
import type { AlsoChanged } from '../storage/round-money.ts'
import type { Wallet } from '../storage/wallet-document.ts'
import { applyMessage } from './apply-message.ts'
import { beginCall } from './run-call.ts'

type OfOriginal = { readonly original: MovementDocument }
/** The original after it, and its reversal's record. `conflict`: the reversal's id is another movement's. */
type Begun =
  | ({ readonly kind: 'begun' | 'present'; readonly reversal: MovementDocument } & OfOriginal)
  | ({ readonly kind: 'none' | 'conflict' } & OfOriginal)
  | (MovementStep & { readonly kind: 'refused' })

const triesMax = 50

/**
 * Begins a reversal: one entry in which the original has it, and it has its own record. So each movement is
 * given back once. Nothing stands when its id is another's; the service's own rollback gets another id then.
 * @param message asks for the reversal; null for the one that the original owes
 * @param wallet begins the reversal's first call to it, unless another call of the round is in flight
 */
export async function beginReversal(
  settlement: Settlement,
  given: MovementDocument,
  message: MovementMessage | null,
  wallet?: Wallet,
): Promise<Begun> {
  const { movements, rules, clock } = settlement
  let original = given
  for (let tries = 0; tries < triesMax; tries++) {
    const step = message === null ? null : rules(original, message)
    if (step?.kind === 'refused') return step
    const asked = step?.state ?? original
    const { reversal } = asked
    if (reversal === null) return { kind: 'none', original }
    const { transactionId } = reversal
    if (reversal.placed) {
      const present = await movements.find(scopeOf(original), transactionId)
      return present === null ? { kind: 'none', original } : { kind: 'present', original, reversal: present }
    }
    const wanted = reversalDocumentOf(original, reversal)
    const { state } = rules(asked, { kind: 'reversal-placed', at: clock.now(), transactionId })
    const inserted = await insert(settlement, wanted, { document: original, state }, wallet)
    if (typeof inserted !== 'string' && !('refused' in inserted)) {
      const after = (await movements.findById(original._id)) ?? original
      return { kind: 'begun', original: after, reversal: inserted }
    }
    if (inserted !== 'stale') return conflictOf(settlement, original, wanted, message)
    original = (await movements.findById(original._id)) ?? original
  }
  throw new Error(`the movement ${given.reference} kept changing`)
}

async function insert(settlement: Settlement, wanted: MovementDocument, also: AlsoChanged, wallet?: Wallet) {
  const { movements, rules, clock, newId } = settlement
  if (wallet !== undefined) {
    const { state } = rules(wanted, beginCall(wallet, clock.now(), newId))
    const inserted = await movements.insert({ ...wanted, ...state }, { also })
    if (inserted !== 'round-busy') return inserted
  }
  return movements.insert(wanted, { also })
}

/** What stands where an insert found the reversal's id taken. */
async function conflictOf(
  settlement: Settlement,
  original: MovementDocument,
  wanted: MovementDocument,
  message: MovementMessage | null,
): Promise<Begun> {
  const { movements, clock, newId } = settlement
  const { transactionId } = wanted
  const present = await movements.findById(wanted._id)
  if (present?.reference === wanted.reference) {
    // An earlier build, or a heal, made its record by itself.
    const message = { kind: 'reversal-placed', at: clock.now(), transactionId } as const
    const placed = await applyMessage(settlement, original, message)
    return { kind: 'present', original: placed.document, reversal: present }
  }
  if (message?.kind === 'reversal-asked') return { kind: 'conflict', original }
  const owing = message === null ? original : (await applyMessage(settlement, original, message)).document
  const rollback = freshRollback(original, newId)
  const conflicted = { kind: 'reversal-conflicted', at: clock.now(), transactionId, rollback } as const
  return { kind: 'conflict', original: (await applyMessage(settlement, owing, conflicted)).document }
}
