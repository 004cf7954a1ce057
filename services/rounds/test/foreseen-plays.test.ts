import t from 'tap'
import type { Read } from './fixtures/hold-reads.ts'
import { startRig } from './fixtures/rounds-rig.ts'

t.test('the settings of the game are asked for while the session of a known player is read', async (t) => {
  const settings = Promise.withResolvers<void>()
  let isKnown = false
  const hold = async ({ collection }: Read) => {
    if (!isKnown) return
    if (collection === 'game_settings') settings.resolve()
    if (collection === 'sessions') await settings.promise
  }
  const rig = await startRig(t, { hold })
  const session = await rig.openSession({ game: 'dice' })
  const bet = { target: '50.00', direction: 'over' }
  await rig.play(session, { stake: '1.00', bet })
  isKnown = true
  const { nonce } = (await rig.play(session, { stake: '1.00', bet })).fairness
  t.equal(nonce, 2)
})

t.test('a known player is refused as any other', async (t) => {
  const rig = await startRig(t)
  const session = await rig.openSession({ game: 'dice' })
  const play = (stake: string) => rig.play(session, { stake, bet: { target: '50.00', direction: 'over' } })
  await play('1.00')
  await rig.storage.db
    .collection<{ _id: string }>('game_status')
    .updateOne({ _id: 'dice' }, { $set: { status: 'DOWN' } }, { upsert: true })
  await t.rejects(play('-1.00'), { code: 'VALIDATION_ERROR' }, 'before its game is looked at')
  await rig.storage.db.collection('sessions').updateMany({}, { $set: { closedAt: new Date() } })
  await t.rejects(play('1.00'), { code: 'SESSION_CLOSED' }, 'before its game is looked at, too')
})
