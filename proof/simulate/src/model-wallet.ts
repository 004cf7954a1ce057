import { decide } from '@pitboss/operator-kit/sandbox-wallet/decide'
import {
  applyEntry,
  createLedger,
  type Ledger,
  type LedgerEntry,
} from '@pitboss/operator-kit/sandbox-wallet/ledger'
import { readWalletRequest } from '@pitboss/operator-kit/sandbox-wallet/wallet-request'
import type {
  WalletCallResult,
  WalletClient,
  WalletRequest,
} from '@pitboss/wallet-bridge/clients/wallet-client'
import type { WalletExchange } from '@pitboss/wallet-bridge/rules/wallet-answers'
import type { MovementDocument } from '@pitboss/wallet-bridge/storage/movement-document'
import { inCurrency } from '@pitboss/chaos/in-currency'
import type { Random } from '@pitboss/chaos/random'
import type { Machine } from './machine.ts'
import type { Timeline } from './timeline.ts'
import type { Faults } from './faults.ts'
import { pickWords } from './wallet-words.ts'

export type ModelWallet = {
  readonly ledger: Ledger
  /** Whether a credit or a rollback has had its effect. */
  hasDone(movement: Pick<MovementDocument, 'type' | 'transactionId' | 'referenceTransactionId'>): boolean
  /** The client of one process. */
  clientOf(machine: Machine): WalletClient
}

/** Faults of one call besides being slow. */
const troubles = [
  'lost',
  'answer lost',
  'twice',
  'late',
  '5xx before',
  '5xx after',
  '429',
  'rubbish after',
  'other currency',
  'number balance',
  'redirect',
  'refused',
  'refused',
  'own words',
  'own words',
] as const
const treacherous = ['refused', 'answer lost', 'late'] as const
type Trouble = (typeof troubles)[number]

const refusals = [
  'INSUFFICIENT_FUNDS',
  'PLAYER_BLOCKED',
  'LIMIT_EXCEEDED',
  'SOMETHING_ELSE',
  'TEMPORARY_ERROR',
]
const lateMsMax = 40_000
/** About as long as a call is held before others give it up. */
const leaseMs = { least: 6000, most: 7000 }

/**
 * The sandbox wallet's own rules and ledger behind a network that loses, doubles, delays and garbles.
 * `onEntry` sees every entry of the ledger as it is made; `onCall` every call that is sent and, `null`, its
 * end for the caller.
 */
export function createModelWallet({
  timeline,
  random,
  faults,
  trace,
  onEntry,
  onCall,
  startingBalance,
}: {
  timeline: Timeline
  random: Random
  faults: Faults
  trace: (line: string) => void
  onEntry: (entry: LedgerEntry) => void
  onCall: (roundId: string, machine: Machine) => () => void
  startingBalance: string
}): ModelWallet {
  const ledger = createLedger()
  /** Refused ids stay refused, as docs/contract.md, section 12 asks of every wallet. */
  const refused = new Map<string, string>()
  let ids = 0

  /** The call reaches the wallet. */
  function arrive(request: WalletRequest): WalletExchange {
    const read = readWalletRequest(request.operation, Buffer.from(request.body))
    if (!read.ok) return answer(400, { status: read.code })
    const { transactionId } = readIds(request.body)
    const before = refused.get(transactionId)
    if (before !== undefined) return answer(422, { status: before })
    const { currency } = read.request
    const decision = decide(ledger, read.request, {
      startingBalance: inCurrency(startingBalance, currency),
      at: timeline.now().toISOString(),
      newId: () => `w${(ids += 1)}`,
    })
    for (const entry of decision.entries) {
      applyEntry(ledger, entry)
      trace(`wallet ${entry.operation} ${entry.transactionId} ${entry.effectMinor}`)
      onEntry(entry)
    }
    const accepted = decision.code === 'OK' || decision.code === 'DUPLICATE'
    if (decision.code === 'INSUFFICIENT_FUNDS') refused.set(transactionId, decision.code)
    return answer(accepted ? 200 : 422, {
      status: decision.code,
      currency,
      transactionId: decision.walletTransactionId ?? undefined,
    })
  }

  function exchange(request: WalletRequest, trouble: Trouble | null): WalletExchange | null {
    const again = () => timeline.after(random.between(1, lateMsMax), () => void arrive(request))
    switch (trouble) {
      case null:
        return arrive(request)
      case 'lost':
        return null
      case 'answer lost':
        arrive(request)
        return random.chance(0.5) ? null : { kind: 'no-answer', reason: 'reset' }
      case 'twice':
        again()
        return arrive(request)
      case 'late':
        again()
        return null
      case '5xx before':
        return answer(503, {})
      case '5xx after':
        arrive(request)
        return answer(500, { status: 'OK' })
      case '429':
        return answer(429, { status: 'OK' })
      case 'rubbish after':
        arrive(request)
        return { ...answer(200, {}), body: Buffer.from('<html>') }
      case 'other currency':
        arrive(request)
        return answer(200, { status: 'OK', currency: 'EUR' })
      case 'number balance':
        arrive(request)
        return answer(200, { status: 'OK', balance: 12.5 })
      case 'redirect':
        return answer(307, {})
      case 'refused':
        return answer(422, { status: random.pick(refusals) })
      case 'own words': {
        const { httpStatus, word, isDefinite } = pickWords(random, request.operation)
        // Some do what they were asked for at once, some later, some never.
        const when = isDefinite ? 'never' : random.pick(['at once', 'at once', 'later', 'never'])
        if (when === 'at once') arrive(request)
        if (when === 'later') again()
        return answer(httpStatus, { status: word })
      }
    }
  }

  function send(machine: Machine, request: WalletRequest): Promise<WalletCallResult> {
    return new Promise((resolve) => {
      const sentAt = timeline.now()
      const kinds = random.chance(faults.treachery) ? treacherous : troubles
      const trouble = !faults.fair() && random.chance(faults.wallet) ? random.pick(kinds) : null
      const { roundId, transactionId } = readIds(request.body)
      const ended = onCall(roundId, machine)
      // Also when its holder stands still: others may call it lost only long after.
      timeline.after(request.timeoutMs, ended)
      // The worst moment to stand still: the call is out, and its answer comes after others have given it up.
      if (!faults.fair() && random.chance(faults.standstill)) {
        machine.pause(
          random.chance(0.5) ? random.between(500, 9000) : random.between(leaseMs.least, leaseMs.most),
        )
      }
      trace(
        `${machine.name} calls ${request.operation} ${transactionId}${trouble === null ? '' : `: ${trouble}`}`,
      )
      let over = false
      const end = (given: WalletExchange) => {
        if (over) return
        over = true
        ended()
        const latencyMs = timeline.nowMs() - sentAt.getTime()
        resolve({
          exchange: given,
          sentAt,
          latencyMs,
          request: { url: 'sim', timestamp: '0', requestId: request.requestId },
        })
      }
      machine.after(request.timeoutMs, () => end({ kind: 'timeout' }))
      timeline.after(random.between(2, 30), () => {
        const given = exchange(request, trouble)
        if (given !== null) machine.after(random.between(2, 30), () => end(given))
      })
    })
  }

  return {
    ledger,
    hasDone({ type, transactionId, referenceTransactionId }) {
      return type === 'ROLLBACK'
        ? ledger.rollbackOf.has(referenceTransactionId ?? '')
        : type !== 'BET' && ledger.byTransactionId.has(transactionId)
    },
    clientOf: (machine) => ({ call: (request) => send(machine, request), close: async () => undefined }),
  }
}

function answer(httpStatus: number, body: object) {
  const bytes = Buffer.from(JSON.stringify(body))
  return { kind: 'answer', httpStatus, body: bytes, cutOff: false, date: null } as const
}

function readIds(body: string): { roundId: string; transactionId: string } {
  const text = (name: string) => new RegExp(`"${name}":"([^"]*)"`).exec(body)?.[1] ?? ''
  return { roundId: text('roundId'), transactionId: text('transactionId') }
}
