import { createOperatorClient } from '@pitboss/testing/operator-client'
import { readOps } from '@pitboss/testing/run-ops'
import { sharedStack } from '@pitboss/testing/shared-stack'
import { waitFor } from '@pitboss/testing/wait-for'
import { MongoClient } from 'mongodb'
import t from 'tap'

t.test('movements that a restored database lacks are listed and written again, each once', async (t) => {
  const stack = await sharedStack(t)
  const demo = stack.demo()
  const from = new Date().toISOString()
  const restored = (...more: string[]) => {
    const account = ['--operator', demo.operator_id, '--environment', 'TEST']
    return readOps(stack.dataDir, 'movement', 'restored', ...account, '--from', from, ...more)
  }
  const operator = await createOperatorClient(demo)
  const player = await operator.openSession({ player_id: 'forgotten', game: 'dice', currency: 'USD' })
  const bet = { target: '98.00', direction: 'under' }
  const round = await player.call('POST', '/game/rounds', { stake: '1.00', bet })
  t.equal(round.status, 201)
  const client = new MongoClient(demo.engines.mongodb.url)
  t.teardown(() => client.close())
  const movements = client.db('pitboss_wallet_bridge').collection('movements')
  const own = { playerId: 'forgotten', type: 'BET' }
  const stake = await waitFor(() => movements.findOne({ ...own, status: 'SUCCESS' }))
  const events = client.db('pitboss_webhooks').collection('events')
  const told = { roundId: round.body.round_id, type: 'transaction.bet' }
  await waitFor(async () => (await events.countDocuments(told)) === 1, { what: 'the stake to be told of' })
  await movements.deleteOne(own)

  const row = { transaction_id: stake.transactionId, type: 'BET', state: 'lost', told: true }
  t.match(await restored(), [{ ...row, healed: null }])
  t.match(await restored('--heal', '--yes', '--reason', 'restored'), [{ ...row, healed: 'written' }])
  const found = await movements.findOne(own)
  t.match(found, { status: 'SUCCESS', reference: stake.reference, amount: '1.00' })
  t.strictSame(await restored(), [])
})
