import { createOperatorClient, send } from '@pitboss/testing/operator-client'
import { readOps } from '@pitboss/testing/run-ops'
import { sharedStack } from '@pitboss/testing/shared-stack'
import { loseRounds } from '@pitboss/testing/lose-rounds'
import { waitFor } from '@pitboss/testing/wait-for'
import { MongoClient } from 'mongodb'
import t from 'tap'

t.test('rounds that a restored database lacks are listed and healed, each once', async (t) => {
  const stack = await sharedStack(t)
  const demo = stack.demo()
  const from = new Date().toISOString()
  const orphans = (...more: string[]) => {
    const account = ['--operator', demo.operator_id, '--environment', 'TEST']
    const window = ['--from', from, '--to', new Date().toISOString()]
    return readOps(stack.dataDir, 'round', 'orphans', ...account, ...window, ...more)
  }

  const poor = [{ player_id: 'restored', balances: { USD: '50.00' } }]
  t.equal((await send('PUT', `${demo.wallet.url}/sandbox/players`, { body: { players: poor } })).status, 200)
  const operator = await createOperatorClient(demo)
  const player = await operator.openSession({ player_id: 'restored', game: 'dice', currency: 'USD' })
  const play = (stake: string) => {
    const bet = { target: '98.00', direction: 'under' }
    return player.call('POST', '/game/rounds', { stake, bet })
  }
  const [kept, ended] = [await play('1.00'), await play('1.00')]
  t.match([kept, ended], [{ status: 201 }, { body: { fairness: { nonce: 2 } } }])
  const refused = await play('100.00')
  t.equal(refused.body.code, 'INSUFFICIENT_FUNDS')
  t.strictSame(await orphans(), [], 'every stake has its round')

  const client = new MongoClient(demo.engines.mongodb.url)
  t.teardown(() => client.close())
  const events = client.db('pitboss_webhooks').collection('log')
  const ends = { r: ended.body.round_id, t: 'round.completed' }
  await waitFor(async () => (await events.countDocuments(ends)) === 1, { what: 'the end to be recorded' })
  await loseRounds(client.db('pitboss_rounds'), 'restored', [2, 3])

  const told = { round_id: ended.body.round_id, nonce: 2, stands: true, ended: true, refund: null }
  const untold = { nonce: null, stands: false, ended: false, refund: null }
  const lost = await orphans()
  t.match(lost, [told, untold])
  t.strictSame(await orphans('--heal', '--dry-run', '--reason', 'restored'), lost)
  t.strictSame(await orphans(), lost, 'a dry run heals nothing')
  t.match(await orphans('--heal', '--yes', '--reason', 'restored'), [
    { ...told, refused: null },
    { ...untold, refused: null },
  ])
  t.match(await orphans(), [told], 'its stake stands, was played, and stays in the list')
  t.match(await play('1.00'), { status: 201, body: { fairness: { nonce: 4 } } }, 'both nonces are held')
})

t.test(
  'two stakes of one lost round whose long ids differ at the end alone are both given back',
  async (t) => {
    const stack = await sharedStack(t)
    const demo = stack.demo()
    const player_id = 'restored-long'
    const from = new Date().toISOString()
    const poor = [{ player_id, balances: { USD: '50.00' } }]
    t.equal(
      (await send('PUT', `${demo.wallet.url}/sandbox/players`, { body: { players: poor } })).status,
      200,
    )
    const operator = await createOperatorClient(demo)
    const { session_id } = (
      await operator.call('POST', '/sessions', { player_id, game: 'spin-bottle', currency: 'USD' })
    ).body
    const like = `${'restored.long.'.repeat(9)}`.slice(0, 126)
    const ids = [`${like}.1`, `${like}.2`]
    const bet = { type: 'BET', session_id, amount: '10.00', currency: 'USD' }
    const first = await operator.call('POST', '/transactions', { ...bet, transaction_id: ids[0] })
    const { round_id } = first.body
    const second = await operator.call('POST', '/transactions', { ...bet, transaction_id: ids[1], round_id })
    t.match([first, second], [{ status: 201 }, { status: 201 }])
    const balance = async () => {
      const { body } = await send('GET', `${demo.wallet.url}/sandbox/players?player_id=${player_id}`)
      return JSON.stringify(body)
    }
    t.match(await balance(), /"30\.00"/)

    const client = new MongoClient(demo.engines.mongodb.url)
    t.teardown(() => client.close())
    await loseRounds(client.db('pitboss_rounds'), player_id)
    const account = ['--operator', demo.operator_id, '--environment', 'TEST']
    const heal = async () => {
      const window = ['--from', from, '--to', new Date().toISOString()]
      const order = ['--heal', '--yes', '--reason', 'restored']
      const rows = await readOps(stack.dataDir, 'round', 'orphans', ...account, ...window, ...order)
      return Array.isArray(rows) ? rows.filter((row) => row.round_id === round_id) : rows
    }
    const healed = { round_id, stands: true, refund: 'SUCCESS', refused: null }
    t.match(await heal(), [healed, healed])
    for (const id of ids) {
      t.match(await operator.call('GET', `/transactions/${id}`), {
        status: 200,
        body: { status: 'REFUNDED' },
      })
    }
    t.match(await balance(), /"50\.00"/, 'the wallet has given both back')
    await heal()
    t.match(await balance(), /"50\.00"/, 'once')
  },
)
