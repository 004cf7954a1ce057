import { randomUUID } from 'node:crypto'
import type { CallContext } from '@pitboss/contracts/call'
import type { MovementSpec } from '@pitboss/contracts/calls/wallet'
import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { newId } from '@pitboss/runtime/new-id'
import t from 'tap'
import type { z } from 'zod'
import { createWalletClient, type WalletClient } from '../src/clients/wallet.ts'

const scope: Scope = { operatorId: randomUUID(), environment: 'SANDBOX' }
const context: CallContext = { requestId: newId('req') }
const player = {
  playerId: 'alice',
  currency: 'USD',
  sessionId: newId('ses'),
  walletGameId: randomUUID(),
}
const spec: MovementSpec = {
  ...player,
  transactionId: newId('bet'),
  type: 'BET',
  amount: '1.00',
  roundId: newId('rnd'),
  walletRoundId: randomUUID(),
  game: 'dice',
  brandId: null,
  freeBet: false,
  roundClosed: false,
  driver: 'operator',
  referenceTransactionId: null,
  callWallet: null,
  requestHash: 'hash',
}

type Line = { readonly for: string; readonly shed: boolean; ask(client: WalletClient): Promise<unknown> }

/** The calls of rounds to wallet-bridge. A new one has no place here until it says what it is for. */
const table: Record<keyof WalletClient, Line> = {
  place: {
    for: 'every movement, and what a round owes',
    shed: false,
    ask: (client) => client.place(scope, { spec }, context),
  },
  void: {
    for: 'a stake that is given back whatever the wallet knows of it',
    shed: false,
    ask: (client) => client.void(scope, { stake: spec, rollbackTransactionId: newId('rbk') }, context),
  },
  show: {
    for: 'repeats, what a round catches up with before it settles, and recovery',
    shed: false,
    ask: (client) => client.show(scope, spec.transactionId, context),
  },
  assertConfigured: {
    for: 'a new stake, before anything is written',
    shed: true,
    ask: (client) => client.assertConfigured(scope, context),
  },
  ofRound: {
    for: 'a person who heals what a restored database lacks',
    shed: true,
    ask: (client) => client.ofRound(scope, spec.roundId),
  },
  balance: {
    for: 'a player who looks',
    shed: true,
    ask: (client) => client.balance(scope, player, context),
  },
}

t.test('no call on which settlement, recovery or a repeat depends is ever shed', async (t) => {
  for (const [name, line] of Object.entries(table)) {
    const asked: { subject: string; shed: boolean }[] = []
    const client = createWalletClient({
      bus: {
        async call({ subject, neverShed = false }) {
          asked.push({ subject, shed: !neverShed })
          throw new ServiceError('SERVICE_UNAVAILABLE', { cause: 'no-responders' })
        },
      },
    })
    await line.ask(client).catch((error: unknown) => t.type(error, ServiceError))
    t.equal(asked.length, 1, `${name} makes one call`)
    for (const { subject, shed } of asked) t.equal(shed, line.shed, `${subject}: ${line.for}`)
  }
})

t.test('a wallet is asked about until there is one', async (t) => {
  const answers = [false, true]
  const call = ({ reply }: { reply: z.ZodType }) =>
    reply.parse({ configured: answers.shift(), breakerOpen: false })
  const client = createWalletClient({ bus: { call: async (of) => call(of) as never } })
  await t.rejects(client.assertConfigured(scope, context), { code: 'WALLET_NOT_CONFIGURED' })
  await client.assertConfigured(scope, context)
  await client.assertConfigured(scope, context)
  t.strictSame(answers, [])
})
