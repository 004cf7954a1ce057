import { currencyDigits } from '@pitboss/money/currencies'
import { CaseSkipped, defineCase } from '../run-cases.ts'
import {
  expectNoSuccess,
  expectRefusal,
  expectSuccess,
  moving,
  type WalletBody,
  type WalletCase,
  type WalletUnderTest,
} from './wallet-under-test.ts'

/** Well and badly formed bodies, and players who may not play. */
export const shapeCases: readonly WalletCase[] = [
  defineCase('shape', 'fields-unknown', {
    title: 'Unknown fields are ignored',
    hint: 'Fields may be added to the contract at any time; read what you know.',
    run: moving(-2n, async (wallet) => {
      const body = wallet.body('BET', 2n, { brandId: 'brd_1', somethingNew: { a: [1, 2] } })
      expectSuccess('debit', await wallet.send('debit', body))
    }),
  }),
  malformed('amount-number', 'An amount that is a JSON number is refused', () => ({ amount: 2 })),
  malformed('amount-negative', 'A negative amount is refused', (wallet) => ({
    amount: `-${wallet.amount(200n)}`,
  })),
  malformed('amount-exponent', 'An amount with an exponent is refused', () => ({ amount: '1e1' })),
  malformed('amount-decimals', 'More decimals than the currency has are refused', ({ currency }) => ({
    amount: `1.${'0'.repeat(currencyDigits(currency) ?? 0)}1`,
  })),
  malformed('amount-empty', 'An empty amount is refused', () => ({ amount: '' })),
  malformed('amount-missing', 'A missing amount is refused', () => ({ amount: undefined })),
  malformed('transaction-id-missing', 'A missing transactionId is refused', () => ({
    transactionId: undefined,
  })),
  malformed('currency-unknown', 'A currency that does not exist is refused', () => ({ currency: 'XXX' })),
  defineCase('shape', 'body-not-json', {
    title: 'A signed body that is not JSON is refused without a 5xx',
    hint: 'A 5xx means "unknown, try again" to the service; answer a 4xx.',
    run: moving(0n, async (wallet) => {
      const answer = await wallet.send('debit', '{"transactionId":')
      expectNoSuccess('debit', answer)
      expectRefusal('debit', answer)
    }),
  }),
  defineCase('players', 'player-unknown', {
    title: 'A debit for an unknown player is refused',
    hint: 'Answer PLAYER_NOT_FOUND; do not create players from debits.',
    async run(wallet) {
      const playerId = wallet.unknownPlayerId
      if (playerId === null)
        throw new CaseSkipped('no player who does not exist was named (--unknown-player, unknown_player_id)')
      const answer = await wallet.send('debit', wallet.body('BET', 1n, { playerId }))
      expectRefusal('debit', answer, 'PLAYER_NOT_FOUND', 'PLAYER_BLOCKED')
    },
  }),
  defineCase('players', 'player-blocked-debit', {
    title: 'A debit for a blocked player is refused with a player code',
    hint: 'PLAYER_BLOCKED, SELF_EXCLUDED or KYC_REQUIRED, so that the player is told why.',
    async run(wallet) {
      const answer = await wallet.send('debit', wallet.body('BET', 1n, { playerId: blockedPlayer(wallet) }))
      expectRefusal('debit', answer, 'PLAYER_BLOCKED', 'SELF_EXCLUDED', 'KYC_REQUIRED')
    },
  }),
  defineCase('players', 'player-blocked-credit', {
    title: 'A credit for a blocked player is accepted',
    hint: 'The round was played before the block; the win is owed.',
    async run(wallet) {
      const answer = await wallet.send('credit', wallet.body('WIN', 1n, { playerId: blockedPlayer(wallet) }))
      expectSuccess('credit', answer)
    },
  }),
]

function blockedPlayer({ blockedPlayerId }: WalletUnderTest): string {
  if (blockedPlayerId === null)
    throw new CaseSkipped('no blocked player was named (--blocked-player, blocked_player_id)')
  return blockedPlayerId
}

function malformed(id: string, title: string, changeOf: (wallet: WalletUnderTest) => WalletBody): WalletCase {
  return defineCase('shape', id, {
    title,
    hint: 'Validate before you move money, and answer a 4xx with a status of your own.',
    run: moving(0n, async (wallet) => {
      const body = { ...wallet.body('BET', 2n), ...changeOf(wallet) }
      expectRefusal('debit', await wallet.send('debit', body))
    }),
  })
}
