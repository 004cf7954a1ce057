import { parseAmount } from '@pitboss/money/amount'
import { currencyDigits } from '@pitboss/money/currencies'
import { isPaid } from './check-totals.ts'
import { groupBy } from './group.ts'
import { forgottenIds } from './restored.ts'
import type { LedgerEntry, Movement } from './rows.ts'
import type { Sources } from './sources.ts'
import type { Verdict } from './verdict.ts'

const names = {
  once: 'money: a transaction_id is applied at most once at the wallet',
  success: 'money: SUCCESS here is one effect that stands at the wallet',
  refusal: 'money: what was refused or given back has no effect at the end',
  phantom: 'money: the wallet holds nothing that is not a movement here',
  reversal: 'money: a movement is given back at most once',
  sum: "money: movements sum to the change of the wallet's balance",
  credit: 'money: no credit stands without its stake, or before it',
  owed: 'money: an owed credit is never given up',
  kept: 'money: a round that is voided or refused keeps no stake',
  freeBet: 'money: a free bet takes no stake',
  apart: 'money: a wallet moves for its own account and environment alone',
} as const

/** Movements as the product reports them against the wallet's own ledger. */
export function checkMoney(
  sources: Sources,
  startingBalance: (playerId: string) => string,
  verdict: Verdict,
): void {
  const { movements, ledger } = sources
  const calls = ledger.filter(({ operation }) => operation === 'debit' || operation === 'credit')
  const rollbacks = ledger.filter(({ operation }) => operation === 'rollback')
  const byId = groupBy(calls, ({ transaction_id }) => transaction_id)
  const known = new Map(movements.map((movement) => [movement.transaction_id, movement]))

  const forgotten = forgottenIds(sources)
  for (const [id, entries] of byId) {
    verdict.check(names.once, entries.length === 1, () => `${id} was applied ${entries.length} times`)
    if (forgotten.has(id)) continue
    const movement = known.get(id)
    const [entry] = entries
    const same = movement !== undefined && entry !== undefined && isSame(movement, entry)
    verdict.check(
      names.phantom,
      same,
      () => `${id}: the wallet has ${show(entry)}, here is ${show(movement)}`,
    )
    if (movement !== undefined && entry !== undefined && entry.status !== 'TOMBSTONE') {
      // What was lost and is asked for once more has another reference.
      const isOwn = entry.reference === movement.reference || sources.restored?.movements.has(id) === true
      verdict.check(names.apart, isOwn, () => `${id}: ${entry.reference} there, ${movement.reference} here`)
    }
  }
  const judged = movements.filter(
    ({ transaction_id: id, reference_transaction_id: of }) => !forgotten.has(id) && !forgotten.has(of ?? ''),
  )
  for (const movement of judged) checkMovement(movement, byId, verdict)
  checkVoided(sources, verdict)
  checkReversals(judged, rollbacks, known, verdict)
  checkSums(sources, startingBalance, verdict)
  checkCredits(sources, calls, verdict)
}

function checkMovement(movement: Movement, byId: Map<string, LedgerEntry[]>, verdict: Verdict): void {
  const { transaction_id: id, type, status } = movement
  if (type === 'ROLLBACK') return
  const standing = (byId.get(id) ?? []).filter((entry) => entry.status === 'APPLIED').length
  const moves = minorOf(movement.amount, movement.currency) !== 0n
  if (status === 'SUCCESS' || status === 'REFUNDED') {
    // A zero credit is sent or not, as the operator wants it.
    const isRight = moves ? standing === 1 : standing <= 1
    verdict.check(names.success, isRight, () => `${show(movement)} stands ${standing} times`)
  } else {
    verdict.check(names.refusal, standing === 0, () => `${show(movement)} stands ${standing} times`)
  }
}

function checkVoided({ rounds, movements, restored }: Sources, verdict: Verdict): void {
  const stakes = groupBy(
    movements.filter(({ type }) => type === 'BET'),
    (movement) => movement.round_id,
  )
  for (const { round_id, status } of rounds) {
    if (status !== 'VOIDED' && status !== 'FAILED') continue
    if (restored?.changed.has(round_id) === true) continue
    const kept = (stakes.get(round_id) ?? []).filter((stake) => stake.status === 'SUCCESS')
    verdict.check(names.kept, kept.length === 0, () => `${round_id} ${status}: ${kept.map(show).join(', ')}`)
  }
}

function checkReversals(
  movements: Movement[],
  rollbacks: LedgerEntry[],
  known: Map<string, Movement>,
  verdict: Verdict,
): void {
  const effective = movements.filter(
    ({ type, status }) => (type === 'REFUND' || type === 'ROLLBACK') && status === 'SUCCESS',
  )
  for (const [id, reversals] of groupBy(effective, (movement) => movement.reference_transaction_id)) {
    const original = known.get(id)
    const ends = reversals[0]?.type === 'REFUND' ? ['REFUNDED'] : ['ROLLED_BACK', ofRefusedStake(original)]
    const right = reversals.length === 1 && original !== undefined && ends.includes(original.status)
    verdict.check(
      names.reversal,
      right,
      () => `${show(original)} was given back by ${reversals.map(show).join(' and ')}`,
    )
  }
  const moving = rollbacks.filter(({ effect, currency }) => minorOf(effect, currency) !== 0n)
  for (const [id, entries] of groupBy(moving, (entry) => entry.reference_transaction_id)) {
    verdict.check(names.reversal, entries.length === 1, () => `${id} was rolled back ${entries.length} times`)
  }
}

/** A stake that was refused in a word of the wallet's own stays FAILED and is rolled back all the same. */
function ofRefusedStake(original: Movement | undefined): Movement['status'] | null {
  return original?.type === 'BET' ? 'FAILED' : null
}

function checkSums(sources: Sources, startingBalance: (playerId: string) => string, verdict: Verdict): void {
  const ours = new Map<string, bigint>()
  const forgotten = forgottenIds(sources)
  for (const { transaction_id: id, player_id, type, status, amount, currency } of sources.movements) {
    if (forgotten.has(id)) continue
    if (type === 'ROLLBACK' || (status !== 'SUCCESS' && status !== 'REFUNDED')) continue
    const minor = minorOf(amount, currency)
    const key = `${player_id} ${currency}`
    ours.set(key, (ours.get(key) ?? 0n) + (type === 'BET' ? -minor : minor))
  }
  for (const { operation, transaction_id: id, status, player_id, amount, currency } of sources.ledger) {
    if (operation === 'rollback' || status !== 'APPLIED' || !forgotten.has(id ?? '')) continue
    const minor = minorOf(amount, currency)
    const key = `${player_id} ${currency}`
    ours.set(key, (ours.get(key) ?? 0n) + (operation === 'debit' ? -minor : minor))
  }
  for (const [playerId, balances] of sources.balances) {
    for (const [currency, balance] of Object.entries(balances)) {
      const key = `${playerId} ${currency}`
      const change =
        minorOf(balance, currency) - minorOf(startOf(startingBalance(playerId), currency), currency)
      const sum = ours.get(key) ?? 0n
      verdict.check(
        names.sum,
        sum === change,
        () => `${key}: movements ${sum}, wallet ${change} (minor units)`,
      )
      ours.delete(key)
    }
  }
  for (const [key, sum] of ours) {
    verdict.check(names.sum, sum === 0n, () => `${key}: movements ${sum}, unknown to the wallet`)
  }
}

/** A starting balance, cut to the currency's decimals as the sandbox wallet cuts it. */
function startOf(balance: string, currency: string): string {
  const [whole = '0', fraction = ''] = balance.split('.')
  const digits = currencyDigits(currency) ?? 0
  return digits === 0 ? whole : `${whole}.${fraction.slice(0, digits).padEnd(digits, '0')}`
}

function checkCredits(
  { movements, rounds, restored, clockSlackMs }: Sources,
  calls: LedgerEntry[],
  verdict: Verdict,
): void {
  const ofRound = groupBy(movements, ({ round_id }) => round_id)
  const byRound = groupBy(calls, ({ round_id }) => round_id)
  for (const round of rounds) {
    const entries = byRound.get(round.wallet_round_id) ?? []
    const debits = entries.filter(({ operation }) => operation === 'debit')
    const wins = (ofRound.get(round.round_id) ?? []).filter(({ type }) => type === 'WIN')
    const winIds = new Set(wins.map(({ transaction_id }) => transaction_id))
    const credits = entries.filter(
      ({ operation, transaction_id, status }) =>
        operation === 'credit' &&
        status === 'APPLIED' &&
        transaction_id !== null &&
        winIds.has(transaction_id),
    )
    if (round.free_bet)
      verdict.check(names.freeBet, debits.length === 0, () => `${round.round_id} took a stake`)
    else {
      // Given back later it may have been, when another stake of the round was there: check-totals.ts looks
      // at the end.
      const first = debits.find(({ status }) => status !== 'TOMBSTONE')
      for (const credit of credits) {
        const after = first !== undefined && first.seq < credit.seq
        verdict.check(
          names.credit,
          after,
          () => `${credit.transaction_id} of ${round.round_id}: ${show(first)}`,
        )
      }
    }
    if (round.status !== 'SETTLED' || restored?.changed.has(round.round_id) === true) continue
    const own = ofRound.get(round.round_id) ?? []
    verdict.check(
      names.owed,
      isPaid(round, own, clockSlackMs),
      () => `${round.round_id} owed ${round.payout}: ${own.map(show).join('; ')}`,
    )
  }
}

function isSame(movement: Movement, entry: LedgerEntry): boolean {
  const operation = movement.type === 'BET' ? 'debit' : 'credit'
  return (
    entry.operation === operation &&
    entry.amount === movement.amount &&
    entry.currency === movement.currency &&
    entry.player_id === movement.player_id
  )
}

function minorOf(amount: string, currency: string): bigint {
  return amount.startsWith('-') ? -parseAmount(amount.slice(1), currency) : parseAmount(amount, currency)
}

function show(thing: Movement | LedgerEntry | undefined): string {
  if (thing === undefined) return 'nothing'
  const what = 'operation' in thing ? thing.operation : 'type' in thing ? thing.type : ''
  return `${String(what)} ${thing.transaction_id} ${thing.status} ${thing.amount} of ${thing.player_id}`
}
