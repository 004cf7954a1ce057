import { createOperatorClient, send } from '@pitboss/testing/operator-client'
import { readOps } from '@pitboss/testing/run-ops'
import { runStack } from '@pitboss/testing/run-stack'
import { readEntries, writeEntries } from '@pitboss/testing/stored-entries'
import { waitFor } from '@pitboss/testing/wait-for'
import { type Binary, type Db, type Document, MongoClient } from 'mongodb'
import { unpackOthers, unpackText } from '@pitboss/storage/packed'
import t from 'tap'
import { z } from 'zod'

/** Set back while it runs, and restarted: so it has a stack of its own. */
const stack = await runStack(t)

type Change = (db: Db) => Promise<unknown>

/** Sets databases back as a backup holds them. Their processes are gone before one of them starts again. */
async function restore(client: MongoClient, changes: Readonly<Record<string, Change>>): Promise<void> {
  const services = Object.keys(changes)
  for (const [service, change] of Object.entries(changes))
    await change(client.db(`pitboss_${service.replace('-', '_')}`))
  await Promise.all(services.map((service) => stack.killAndAwaitRestart(service)))
  await waitFor(async () => {
    const processes = stack.demo().processes.filter(({ name }) => services.includes(name))
    const answers = await Promise.all(processes.map(({ http_url: url }) => fetch(`${url}/readyz`)))
    return answers.every(({ ok }) => ok)
  })
}

/** Sets a round back to its first entry, as it was at `createdAt`. */
async function reopenRound(db: Db, opened: Opening, o: string, createdAt: Date): Promise<void> {
  const stream = opened._id.slice(0, opened._id.lastIndexOf('/'))
  const base = { ...opened.f[0]?.base, createdAt, updatedAt: createdAt }
  const journal = db.collection<Stored>('journal')
  await journal.deleteMany({ _id: { $gt: `${stream}/`, $lt: `${stream}/~` } })
  await writeEntries(db, [{ ...opened, o, q: 1, f: [{ base }] }])
  const listed = { ...base, n: 1, w: opened.w, o, open: true }
  await db.collection<Stored>('rounds').replaceOne({ _id: base._id }, listed)
}

/** Loses the rest of a round's money behind its first entry, and that, too, unless it is `kept`. */
async function loseMoney(db: Db, stake: Stored, kept: Opening | null): Promise<void> {
  const journal = db.collection<Stored>('journal')
  const intent = await findIntent(db, (base) => base._id === stake._id)
  if (intent === undefined) throw new Error('the stake has no entry')
  const stream = intent._id.slice(0, intent._id.lastIndexOf('/'))
  await journal.deleteMany({ s: stream, ...(kept === null ? {} : { w: { $ne: intent.w } }) })
  await journal.deleteMany({ _id: { $gt: `${stream}/`, $lt: `${stream}/~` } })
  if (kept !== null) await writeEntries(db, [{ ...kept, _id: intent._id }])
}

t.test('movements that a restored database lacks are listed and written again, each once', async (t) => {
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
  const movements = client.db('pitboss_wallet_bridge').collection<Stored>('movements')
  const own = { playerId: 'forgotten', type: 'BET' }
  const taken = await waitFor(() => movements.findOne({ ...own, status: 'SUCCESS' }))
  const stake = unpackOthers<Stored>(taken)
  const events = client.db('pitboss_webhooks').collection('log')
  const told = { r: round.body.round_id, t: 'transaction.bet' }
  await waitFor(async () => (await events.countDocuments(told)) === 1, { what: 'the stake to be told of' })
  await restore(client, {
    'wallet-bridge': async (db) => {
      await loseMoney(db, stake, null)
      await movements.deleteMany({ playerId: 'forgotten', type: 'BET' })
    },
  })

  const row = { transaction_id: stake.transactionId, type: 'BET', state: 'lost', told: true }
  t.match(await restored(), [{ ...row, healed: null }])
  t.match(await restored('--heal', '--yes', '--reason', 'restored'), [{ ...row, healed: 'written' }])
  const found = unpackOthers<Stored>((await movements.findOne(own)) ?? { _id: '' })
  t.match(found, { status: 'SUCCESS', reference: stake.reference, amount: '1.00' })
  t.strictSame(await restored(), [])
})

t.test('a stake that was played is not taken back when several databases were set back', async (t) => {
  const demo = stack.demo()
  const account = ['--operator', demo.operator_id, '--environment', 'TEST']
  const heal = ['--heal', '--yes', '--reason', 'restored']
  const client = new MongoClient(demo.engines.mongodb.url)
  t.teardown(() => client.close())
  const movements = client.db('pitboss_wallet_bridge').collection<Stored>('movements')
  const rounds = client.db('pitboss_rounds').collection<Stored>('rounds')
  const events = client.db('pitboss_webhooks').collection('log')
  const operator = await createOperatorClient(demo)

  for (const also of ['nothing else', 'the event log']) {
    await t.test(`rounds, wallet-bridge and ${also}`, async (t) => {
      const playerId = `set-back-with-${also.replaceAll(' ', '-')}`
      const player = await operator.openSession({ player_id: playerId, game: 'dice', currency: 'USD' })
      const slow = { kind: 'delay', operation: 'debit', player_id: playerId, delay_ms: 3000 }
      await send('PUT', `${demo.wallet.url}/sandbox/faults`, { body: { rules: [slow] } })
      t.teardown(() => send('DELETE', `${demo.wallet.url}/sandbox/faults`))
      const bet = { target: '98.00', direction: 'under' }
      const playing = player.call('POST', '/game/rounds', { stake: '1.00', bet })
      const isOwn = (base: Document) => base.playerId === playerId
      const intent = await waitFor(() => findIntent(client.db('pitboss_wallet_bridge'), isOwn))
      const stake: Stored = intent.f[0]?.base
      const opened = await waitFor(() => findIntent(client.db('pitboss_rounds'), isOwn))
      t.equal((await playing).status, 201)
      const roundId: string = opened.f[0]?.base._id
      await waitFor(async () => (await events.countDocuments({ r: roundId, t: 'round.completed' })) === 1)
      await waitFor(async () => (await events.countDocuments({ r: roundId, t: 'transaction.bet' })) === 1)

      // As a backup holds them that was made two minutes ago.
      const createdAt = new Date(Date.now() - 120_000)
      if (also === 'the event log') await events.deleteMany({ r: roundId })
      const call = { ...stake.call, startedAt: createdAt, until: new Date(createdAt.getTime() + 5000) }
      const inFlight = { ...stake, createdAt, updatedAt: createdAt, call, dueAt: call.until }
      const o = 'ins_of_the_backup'
      await restore(client, {
        rounds: (db) => reopenRound(db, opened, o, createdAt),
        'wallet-bridge': async (db) => {
          await loseMoney(db, stake, { ...intent, o, q: 1, f: [{ base: inFlight }] })
          await movements.deleteMany({ playerId, type: 'WIN' })
          await movements.replaceOne({ _id: stake._id }, { ...inFlight, n: 1, w: intent.w, o, open: true })
        },
      })

      await waitFor(() => movements.findOne({ _id: stake._id, inDoubt: true }))
      const reference = String(stake.reference)
      const { waiting_for: why } = z
        .object({ waiting_for: z.array(z.object({ text: z.string() })) })
        .parse(await readOps(stack.dataDir, 'movement', 'why', reference))
      t.ok(why.some(({ text }) => text.startsWith('It is in doubt since a database was restored')))
      const row = { transaction_id: stake.transactionId, state: 'in doubt' }
      const from = createdAt.toISOString()
      const restored = (...more: string[]) =>
        readOps(stack.dataDir, 'movement', 'restored', ...account, '--from', from, ...more)
      if (also === 'the event log') {
        await readOps(stack.dataDir, 'consumer', 'rewind', 'webhooks-fanout', '--from-time', from, '--yes')
        await waitFor(async () => (await events.countDocuments({ r: roundId, t: 'round.completed' })) === 1)
      }
      t.match(await restored(...heal), [{ ...row, told: true, healed: 'success' }])
      await waitFor(() => rounds.findOne({ _id: roundId, status: 'SETTLED' }))
      const ledger = await send('GET', `${demo.wallet.url}/sandbox/ledger?player_id=${playerId}`)
      const entries = z
        .object({ data: z.array(z.object({ operation: z.string(), status: z.string() })) })
        .parse(ledger.body).data
      const of = (operation: string) => entries.filter((entry) => entry.operation === operation)
      t.match(of('debit'), [{ status: 'APPLIED' }], 'the stake stands')
      t.strictSame(of('rollback'), [])
      t.ok(of('credit').length <= 1, 'a win is paid once')
    })
  }
})

t.test('a win that was paid before both databases were set back is not asked for anew', async (t) => {
  const demo = stack.demo()
  const client = new MongoClient(demo.engines.mongodb.url)
  t.teardown(() => client.close())
  const [rounds, movements] = [client.db('pitboss_rounds'), client.db('pitboss_wallet_bridge')]
  const operator = await createOperatorClient(demo)
  const playerId = 'reopened'
  const player = await operator.openSession({ player_id: playerId, game: 'mines', currency: 'USD' })
  const openBoard = async () => {
    const opened = await player.call('POST', '/game/rounds', { stake: '1.00', bet: { mines: 1 } })
    t.match(opened, { status: 201, body: { status: 'OPEN' } })
    const roundId = String(opened.body.round_id)
    await waitFor(() => movements.collection('movements').findOne({ roundId, status: 'SUCCESS' }))
    await waitFor(() => rounds.collection<Stored>('rounds').findOne({ _id: roundId, status: 'OPEN' }))
    const backups = { rounds: await backUp(rounds), movements: await backUp(movements) }
    const picked = await player.call('POST', `/game/rounds/${roundId}/reveal`, { tile: 0 })
    return { roundId, backups, isOpen: picked.body.status === 'OPEN' }
  }
  let board = await openBoard()
  // One tile of 25 is the bomb.
  while (!board.isOpen) board = await openBoard()
  const { roundId, backups } = board
  const cashedOut = await player.call('POST', `/game/rounds/${roundId}/cashout`)
  t.match(cashedOut, { status: 200, body: { status: 'SETTLED' } })
  const events = client.db('pitboss_webhooks').collection<{ b: Binary }>('log')
  const told = await waitFor(() => events.findOne({ r: roundId, t: 'transaction.win' }))
  await waitFor(() => events.findOne({ r: roundId, t: 'round.completed' }))
  await restore(client, { rounds: backups.rounds, 'wallet-bridge': backups.movements })

  const account = ['--operator', demo.operator_id, '--environment', 'TEST']
  const heal = ['--heal', '--yes', '--reason', 'restored']
  await waitFor(async () => {
    const rows = await readOps(stack.dataDir, 'round', 'reopened', ...account, ...heal)
    return z
      .array(z.object({ status: z.string() }))
      .parse(rows)
      .every(({ status }) => status !== 'PENDING')
  })
  const win = { roundId, type: 'WIN', status: 'SUCCESS' }
  const paid = await waitFor(() => movements.collection('movements').findOne(win))
  const { data } = z
    .object({ data: z.object({ reference: z.string() }) })
    .parse(JSON.parse(unpackText(told.b)))
  t.equal(paid.reference, data.reference)
  await waitFor(() => rounds.collection<Stored>('rounds').findOne({ _id: roundId, status: 'SETTLED' }))
})

/** Copies a database whole. @returns what brings it back */
async function backUp(db: Db): Promise<(db: Db) => Promise<void>> {
  const names = (await db.listCollections().toArray()).map(({ name }) => name)
  const copies = await Promise.all(
    names.map(async (name) => {
      const found = db.collection(name).find({}, { promoteValues: false })
      return [name, await found.toArray()] as const
    }),
  )
  return async (to) => {
    for (const [name, documents] of copies) {
      await to.collection(name).deleteMany({})
      if (documents.length > 0) await to.collection(name).insertMany(documents)
    }
  }
}

type Stored = Document & { _id: string }
type Opening = Awaited<ReturnType<typeof readEntries<Document>>>[number]

/** The first entry of a round's stream, or of its money's. */
async function findIntent(db: Db, isOwn: (base: Document) => boolean): Promise<Opening | undefined> {
  const entries = await readEntries<Document>(db)
  return entries.find(({ f: [fact] }) => fact?.base !== undefined && isOwn(fact.base))
}
