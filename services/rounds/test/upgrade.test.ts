import { readEntries } from '@pitboss/testing/stored-entries'
import t from 'tap'
import { makeOlder } from './fixtures/make-older.ts'
import { act, cashOut, codeOf, errorOf, safeTile, startRig } from './fixtures/rounds-rig.ts'

type Older = { _id: string; chain: string; scope: string }

t.test('what a release before the journal has left goes on', async (t) => {
  const rig = await startRig(t, { running: false })
  const { db } = rig.storage
  const stop = await rig.start()
  const mines = await rig.openSession({ game: 'mines' })
  const board = await rig.play(mines, { transaction_id: 'older' })
  const dice = await rig.openSession()
  const ended = await rig.play(dice)
  await rig.until(async () => (await rig.events()).some(({ type }) => type === 'round.completed'))
  const told = (await rig.events()).find(({ data }) => data.round_id === ended.round_id)
  await stop()
  const events = (await readEntries(db)).flatMap(({ ev = [] }) => ev)
  const waiting = events.filter(({ body }) => body.includes(ended.round_id)).slice(-1)
  const underOtherId = (event: (typeof events)[number]) => {
    const id = `${event.id.slice(0, -4)}0000`
    return { ...event, id, body: event.body.replaceAll(event.id, id) }
  }
  const unseen = waiting.map(underOtherId)
  await makeOlder(db, ({ _id }) => (_id === ended.round_id ? unseen : []))
  const scope = `${rig.scope.operatorId}/${rig.scope.environment}`
  const chain = `${scope}/dice/${dice.player_id}`
  const created = events.filter(({ subject }) => subject.endsWith('game.session.created'))
  const ofSession = created.filter(({ body }) => body.includes(dice.session_id)).map(underOtherId)
  await db
    .collection<{ _id: string }>('sessions')
    .updateOne({ _id: dice.session_id }, { $set: { outbox: ofSession, outboxAt: new Date() } })
  const refusal = {
    code: 'BET_LIMIT_EXCEEDED',
    message: 'no',
    details: null,
    forgetAt: new Date(Date.now() + 1e7),
  }
  const requestHash = 'another'
  await db.collection<Older & { openedUnder: string }>('rounds').insertOne({
    _id: 'refused/1',
    scope: '',
    chain,
    openedUnder: 'dead',
    nonce: -1,
    requestHash,
    ...refusal,
  } as never)

  await rig.start()
  t.equal((await rig.round(board.round_id)).status, 'OPEN')
  t.equal((await rig.play(mines, { transaction_id: 'older' })).round_id, board.round_id, 'a repeat')
  t.equal(await codeOf(rig.play(mines)), 'ROUND_IN_PROGRESS')
  await act(rig, mines, board.round_id, await safeTile(rig, board.round_id))
  t.equal((await cashOut(rig, mines, board.round_id)).status, 'SETTLED')
  t.equal((await rig.play(mines)).fairness.nonce, 2)
  t.equal((await rig.play(dice)).fairness.nonce, 2, 'after a round that had ended')
  t.equal((await errorOf(rig.play(dice, { transaction_id: 'dead' }))).code, 'TRANSACTION_CONFLICT')
  await rig.until(async () => (await rig.events()).some(({ id }) => id === unseen[0]?.id), {
    what: 'an event that waited',
  })
  t.not(told?.id, unseen[0]?.id)
  await rig.until(async () => (await rig.events()).some(({ id }) => id === ofSession[0]?.id), {
    what: 'an event of a session',
  })
  t.equal(await db.collection('sessions').countDocuments({ outboxAt: { $exists: true } }), 0)
  t.equal((await rig.round(ended.round_id)).status, 'SETTLED')
  t.equal(await db.collection('rounds').countDocuments({ forgetAt: { $exists: true } }), 0)

  await rig.start()
  t.equal((await rig.play(dice)).fairness.nonce, 3, 'a second process finds nothing to do')
})
