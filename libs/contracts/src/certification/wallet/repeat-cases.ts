import { CaseFailure, defineCase, expect } from '../run-cases.ts'
import {
  expectRefusal,
  expectSuccess,
  type MovementType,
  moving,
  type WalletBody,
  type WalletCase,
  type WalletUnderTest,
} from './wallet-under-test.ts'

const PARALLEL = 10
const HINT = 'Put a unique index on transactionId and write movement and balance in one transaction.'

/** Idempotency and races. */
export const repeatCases: readonly WalletCase[] = [
  repeated('debit-twice', 'The same debit sent twice is taken once', 'debit', -9n),
  repeated('credit-twice', 'The same credit sent twice is given once', 'credit', 9n),
  parallel('debit-parallel', 'Ten parallel copies of one debit are taken once', 'debit', -8n),
  parallel('credit-parallel', 'Ten parallel copies of one credit are given once', 'credit', 8n),
  defineCase('idempotency', 'duplicate-same-id', {
    title: 'A repeat is answered with the same transactionId of the wallet',
    hint: 'Store the answer with the movement and give it again.',
    async run(wallet) {
      const body = wallet.body('BET', 1n)
      const first = await wallet.send('debit', body)
      const second = await wallet.send('debit', body)
      expectSuccess('repeat', second)
      const [one, two] = [first.fields.get('transactionId'), second.fields.get('transactionId')]
      expect(two === undefined || two === one, `first ${JSON.stringify(one)}, then ${JSON.stringify(two)}`)
    },
  }),
  defineCase('idempotency', 'duplicate-after-others', {
    title: 'A repeat is recognised after twenty other movements',
    hint: 'Idempotency needs a table, not a cache of the last call.',
    run: moving(-1n, async (wallet) => {
      const body = wallet.body('BET', 1n)
      expectSuccess('debit', await wallet.send('debit', body))
      for (let count = 0; count < 10; count++) {
        await wallet.send('debit', wallet.body('BET', 1n))
        await wallet.send('credit', wallet.body('WIN', 1n))
      }
      expectSuccess('repeat', await wallet.send('debit', body))
    }),
  }),
  defineCase('idempotency', 'duplicate-without-funds', {
    title: 'A repeated debit succeeds even when the balance would not cover it again',
    hint: 'Look for the transactionId before you compare with the balance.',
    run: moving(0n, async (wallet) => {
      const all = await wallet.balance()
      const bet = wallet.body('BET', all)
      expectSuccess('debit', await wallet.send('debit', bet))
      try {
        expectSuccess('repeat', await wallet.send('debit', bet))
      } finally {
        const back = wallet.body('ROLLBACK', all, { referenceTransactionId: bet.transactionId })
        expectSuccess('rollback', await wallet.send('rollback', back))
      }
    }),
  }),
  defineCase('idempotency', 'refusal-stays', {
    title: 'A refused debit stays refused, also when the balance covers it later',
    hint: 'Remember refused transactionIds for at least 24 h: the request may have travelled twice.',
    run: moving(5n, async (wallet) => {
      const bet = wallet.body('BET', (await wallet.balance()) + 5n)
      expectRefusal('debit', await wallet.send('debit', bet), 'INSUFFICIENT_FUNDS')
      expectSuccess('credit', await wallet.send('credit', wallet.body('WIN', 5n)))
      expectRefusal('the same debit again', await wallet.send('debit', bet))
    }),
  }),
  conflicting('conflict-amount', 'The same transactionId with another amount is refused', (wallet) => ({
    amount: wallet.amount(5n),
  })),
  conflicting('conflict-round', 'The same transactionId with another round is refused', ({ newUuid }) => ({
    roundId: newUuid(),
  })),
  defineCase('idempotency', 'conflict-operation', {
    title: "A credit under a debit's transactionId is refused",
    hint: 'One transactionId, one movement, whatever the operation.',
    run: moving(-6n, async (wallet) => {
      const bet = wallet.body('BET', 6n)
      expectSuccess('debit', await wallet.send('debit', bet))
      expectRefusal('credit', await wallet.send('credit', { ...bet, type: 'WIN' }))
    }),
  }),
  defineCase('races', 'parallel-distinct', {
    title: 'Twenty parallel debits of different ids are all taken exactly',
    hint: 'Lost updates: take the amount in the database, do not write back a balance that you read earlier.',
    run: moving(-20n, async (wallet) => {
      const bodies = Array.from({ length: 20 }, () => wallet.body('BET', 1n))
      for (const answer of await Promise.all(bodies.map((body) => wallet.send('debit', body))))
        expectSuccess('debit', answer)
    }),
  }),
  defineCase('races', 'parallel-overdraft', {
    title: 'Parallel debits never take more than there is',
    hint: 'Compare and take in one conditional update.',
    async run(wallet) {
      const before = await wallet.balance()
      const stake = before / 2n + 1n
      const bodies = Array.from({ length: 5 }, () => wallet.body('BET', stake))
      const answers = await Promise.all(bodies.map((body) => wallet.send('debit', body)))
      const taken = answers.filter(({ status }) => status === 'OK').length
      const after = await wallet.balance()
      for (const body of bodies) {
        await wallet.send(
          'rollback',
          wallet.body('ROLLBACK', stake, { referenceTransactionId: body.transactionId }),
        )
      }
      if (taken !== 1)
        throw new CaseFailure(`one of five stakes above half the balance fits, ${taken} were taken`)
      expect(after === before - stake, `the balance should be ${wallet.amount(before - stake)}`)
    },
  }),
  defineCase('races', 'answers-in-time', {
    title: 'Thirty movements in a row are answered well within the time-out',
    hint: 'An answer after the time-out counts as unknown, and the service will repeat or roll back.',
    async run(wallet) {
      let worstMs = 0
      for (let count = 0; count < 15; count++) {
        const { latencyMs: debitMs } = await wallet.send('debit', wallet.body('BET', 1n))
        const { latencyMs: creditMs } = await wallet.send('credit', wallet.body('WIN', 1n))
        worstMs = Math.max(worstMs, debitMs, creditMs)
      }
      expect(
        worstMs <= wallet.timeoutMs / 2,
        `the slowest answer took ${worstMs} ms of ${wallet.timeoutMs} ms`,
      )
    },
  }),
]

function typeOf(operation: 'debit' | 'credit'): MovementType {
  return operation === 'debit' ? 'BET' : 'WIN'
}

function repeated(id: string, title: string, operation: 'debit' | 'credit', delta: bigint): WalletCase {
  return defineCase('idempotency', id, {
    title,
    hint: HINT,
    run: moving(delta, async (wallet) => {
      const body = wallet.body(typeOf(operation), delta < 0n ? -delta : delta)
      expectSuccess('first', await wallet.send(operation, body))
      expectSuccess('repeat', await wallet.send(operation, body))
    }),
  })
}

function parallel(id: string, title: string, operation: 'debit' | 'credit', delta: bigint): WalletCase {
  return defineCase('races', id, {
    title,
    hint: HINT,
    run: moving(delta, async (wallet) => {
      const body = wallet.body(typeOf(operation), delta < 0n ? -delta : delta)
      const copies = Array.from({ length: PARALLEL }, () => wallet.send(operation, body))
      for (const answer of await Promise.all(copies)) expectSuccess('copy', answer)
    }),
  })
}

function conflicting(
  id: string,
  title: string,
  changeOf: (wallet: WalletUnderTest) => WalletBody,
): WalletCase {
  return defineCase('idempotency', id, {
    title,
    hint: 'Keep what you applied and compare; answer any refusal code, for example TRANSACTION_CONFLICT.',
    run: moving(-7n, async (wallet) => {
      const body = wallet.body('BET', 7n)
      expectSuccess('debit', await wallet.send('debit', body))
      expectRefusal('changed debit', await wallet.send('debit', { ...body, ...changeOf(wallet) }))
    }),
  })
}
