import { defineCase, expect } from '../run-cases.ts'
import {
  describe,
  expectRefusal,
  expectSuccess,
  type WalletAnswer,
  moving,
  type WalletBody,
  type WalletCase,
  type WalletUnderTest,
} from './wallet-under-test.ts'

const TOMBSTONE_HINT =
  'Remember rolled-back ids even when you never saw the original: a debit that was delayed on the way must find its rollback.'

/** Rollbacks, tombstones and late arrivals. */
export const rollbackCases: readonly WalletCase[] = [
  defineCase('rollback', 'rollback-debit', {
    title: 'A rollback gives back exactly what the debit took',
    hint: 'referenceTransactionId names the debit.',
    run: moving(0n, async (wallet) => {
      const bet = await placedBet(wallet, 13n)
      expectSuccess('rollback', await wallet.send('rollback', rollbackOf(wallet, bet, 13n)))
    }),
  }),
  defineCase('rollback', 'rollback-twice', {
    title: 'The same rollback sent twice gives back once',
    hint: 'A rollback is idempotent like every movement: OK or DUPLICATE, for you know the original.',
    run: moving(0n, async (wallet) => {
      const bet = await placedBet(wallet, 14n)
      const back = rollbackOf(wallet, bet, 14n)
      expectSuccess('rollback', await wallet.send('rollback', back))
      expectSuccess('repeat', await wallet.send('rollback', back))
    }),
  }),
  defineCase('rollback', 'rollback-other-id', {
    title: 'A second rollback of the same debit gives back nothing more',
    hint: 'At most one rollback per original: a unique index on the id that was rolled back.',
    run: moving(0n, async (wallet) => {
      const bet = await placedBet(wallet, 15n)
      expectSuccess('rollback', await wallet.send('rollback', rollbackOf(wallet, bet, 15n)))
      await wallet.send('rollback', rollbackOf(wallet, bet, 15n))
    }),
  }),
  defineCase('rollback', 'rollback-parallel', {
    title: 'Ten parallel copies of one rollback give back once',
    hint: 'Check and give back in one transaction.',
    run: moving(0n, async (wallet) => {
      const bet = await placedBet(wallet, 16n)
      const back = rollbackOf(wallet, bet, 16n)
      const copies = Array.from({ length: 10 }, () => wallet.send('rollback', back))
      for (const answer of await Promise.all(copies)) expectAcknowledged('copy', answer)
    }),
  }),
  defineCase('rollback', 'rollback-win', {
    title: 'A rollback of a win takes it back',
    hint: 'Sent only when the operator asks for it; the balance may go below zero.',
    run: moving(0n, async (wallet) => {
      const win = wallet.body('WIN', 17n)
      expectSuccess('credit', await wallet.send('credit', win))
      expectSuccess('rollback', await wallet.send('rollback', rollbackOf(wallet, win, 17n)))
    }),
  }),
  defineCase('rollback', 'rollback-unknown', {
    title: 'A rollback of an unknown movement is answered TRANSACTION_NOT_FOUND and moves nothing',
    hint: 'This is an acknowledgement, not an error: answer the code (404 or 200), never a 5xx.',
    run: moving(0n, async (wallet) => {
      const answer = await wallet.send('rollback', rollbackOf(wallet, wallet.body('BET', 18n), 18n))
      expectRefusal('rollback', answer, 'TRANSACTION_NOT_FOUND')
    }),
  }),
  defineCase('rollback', 'rollback-unknown-twice', {
    title: 'A rollback of an unknown movement, repeated, is acknowledged again',
    hint: 'The service repeats until it hears OK, DUPLICATE or TRANSACTION_NOT_FOUND.',
    run: moving(0n, async (wallet) => {
      const back = rollbackOf(wallet, wallet.body('BET', 18n), 18n)
      expectAcknowledged('rollback', await wallet.send('rollback', back))
      expectAcknowledged('repeat', await wallet.send('rollback', back))
    }),
  }),
  defineCase('rollback', 'tombstone', {
    title: 'A debit that arrives after its rollback is refused with TRANSACTION_ROLLED_BACK',
    hint: TOMBSTONE_HINT,
    run: moving(0n, async (wallet) => {
      const late = wallet.body('BET', 19n)
      expectAcknowledged('rollback', await wallet.send('rollback', rollbackOf(wallet, late, 19n)))
      expectRefusal('late debit', await wallet.send('debit', late), 'TRANSACTION_ROLLED_BACK')
    }),
  }),
  defineCase('rollback', 'tombstone-stays', {
    title: 'The late debit stays refused however often it comes',
    hint: TOMBSTONE_HINT,
    run: moving(0n, async (wallet) => {
      const late = wallet.body('BET', 20n)
      expectAcknowledged('rollback', await wallet.send('rollback', rollbackOf(wallet, late, 20n)))
      for (let count = 0; count < 3; count++) {
        expectRefusal('late debit', await wallet.send('debit', late), 'TRANSACTION_ROLLED_BACK')
      }
      const other = await wallet.send('rollback', rollbackOf(wallet, late, 20n))
      expectAcknowledged('another rollback', other)
    }),
  }),
  defineCase('rollback', 'debit-after-rollback', {
    title: 'A debit that was taken and rolled back is not taken again',
    hint: 'Answer TRANSACTION_ROLLED_BACK to the repeat: DUPLICATE would say that the stake is held.',
    run: moving(0n, async (wallet) => {
      const bet = await placedBet(wallet, 21n)
      expectSuccess('rollback', await wallet.send('rollback', rollbackOf(wallet, bet, 21n)))
      expectRefusal('repeat of the debit', await wallet.send('debit', bet), 'TRANSACTION_ROLLED_BACK')
    }),
  }),
  defineCase('rollback', 'rollback-races-debit', {
    title: 'A debit and its rollback at the same time end with nothing moved',
    hint: 'Lock on the original id, so that either the debit is undone or the tombstone is found.',
    run: moving(0n, async (wallet) => {
      for (let count = 0; count < 5; count++) {
        const bet = wallet.body('BET', 22n)
        const back = rollbackOf(wallet, bet, 22n)
        await Promise.all([wallet.send('debit', bet), wallet.send('rollback', back)])
        expectAcknowledged('rollback', await wallet.send('rollback', back))
      }
    }),
  }),
]

async function placedBet(wallet: WalletUnderTest, minor: bigint): Promise<WalletBody> {
  const bet = wallet.body('BET', minor)
  expectSuccess('debit', await wallet.send('debit', bet))
  return bet
}

function rollbackOf(wallet: WalletUnderTest, original: WalletBody, minor: bigint): WalletBody {
  const { transactionId, roundId } = original
  return wallet.body('ROLLBACK', minor, { roundId, referenceTransactionId: transactionId })
}

function expectAcknowledged(what: string, answer: WalletAnswer): void {
  const known = ['OK', 'DUPLICATE', 'TRANSACTION_NOT_FOUND']
  const acknowledged = answer.httpStatus < 500 && known.includes(answer.status ?? '')
  expect(acknowledged, `${what}: expected OK, DUPLICATE or TRANSACTION_NOT_FOUND, got ${describe(answer)}`)
}
