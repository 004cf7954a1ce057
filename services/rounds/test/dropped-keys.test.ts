import { randomBytes } from 'node:crypto'
import { opsRewriteSeals } from '@pitboss/contracts/calls/seals'
import { ConfigError } from '@pitboss/runtime/load-config'
import { parseKeyring } from '@pitboss/storage/keyring'
import type { RewriteSeals } from '@pitboss/storage/rewrite-seals'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import t from 'tap'
import { assertSeedsOpen } from '../src/storage/chain-seals.ts'
import { createCommitmentsStore } from '../src/storage/commitments-store.ts'
import { sequenceKey } from '../src/storage/round-document.ts'
import { storedRounds, testJournal } from './fixtures/stored-rounds.ts'
import { act, cashOut, codeOf, masterKeys, safeTile, startRig } from './fixtures/rounds-rig.ts'

type Page = Awaited<ReturnType<RewriteSeals['page']>>

const former = `former:${randomBytes(32).toString('base64')}`
const seeds = { newSeed: () => 'ab'.repeat(32), hashSeed: (seed: string) => `hash of ${seed}` }

t.test(
  'no money moves under a key that is gone, and a seed is sealed anew under the current one',
  async (t) => {
    const rig = await startRig(t)
    const { db } = rig.storage
    const commitmentsUnder = (keys: string) =>
      createCommitmentsStore({
        db,
        secretBox: createSecretBox(parseKeyring(keys), 'server-seeds'),
        journal: testJournal(db).journal,
        ...seeds,
      })
    const now = new Date()
    const session = await rig.openSession()
    const sequence = sequenceKey(rig.scope, 'dice', session.player_id)
    const commitment = await commitmentsUnder(former).after(
      sequence,
      { nonce: 0, unfinished: false, next: null },
      now,
    )

    t.equal(await codeOf(rig.play(session)), 'INTERNAL_ERROR')
    t.equal(rig.wallet.asked.length, 0, 'the wallet was not asked')
    t.equal(Number(await db.collection('rounds').countDocuments({})), 0, 'nothing is stored')

    const both = commitmentsUnder(`${masterKeys},${former}`)
    const resealed = both.resealed(sequence, commitment)
    t.match(resealed.sealedSeed, /^v1\.test\./)
    t.equal(commitmentsUnder(masterKeys).open(sequence, 1, resealed.sealedSeed), seeds.newSeed())
    t.strictSame(both.resealed(sequence, resealed), resealed, 'once is enough')

    const keyring = parseKeyring(masterKeys)
    await assertSeedsOpen(db, keyring)
    await db.collection<{ _id: string; proof: string }>('master_keys').insertOne({ _id: 'former', proof: '' })
    const refused = async (why: RegExp) => {
      const error = await assertSeedsOpen(db, keyring).then(
        () => null,
        (thrown: unknown) => thrown,
      )
      t.ok(error instanceof ConfigError)
      t.match(String(error), why)
    }
    await refused(/key former is missing.*nonces to come/)
    await assertSeedsOpen(db, parseKeyring(`${masterKeys},${former}`))

    await db.collection<{ _id: string }>('rounds').insertOne({
      ...{ _id: 'rnd_older', chain: sequence, nonce: 1, unfinished: true },
      ...{ sealedSeed: commitment.sealedSeed },
    } as never)
    await refused(/key former is missing.*unfinished rounds/)
    await db
      .collection<{ _id: string }>('rounds')
      .updateOne({ _id: 'rnd_older' }, { $set: { unfinished: false } })
    await assertSeedsOpen(db, keyring)
    t.pass('the nonce was played: its seed is revealed')
  },
)

t.test('rounds go on under a new key once their seeds are sealed under it', async (t) => {
  const next = `next:${randomBytes(32).toString('base64')}`
  const rig = await startRig(t, { running: false })
  const { db } = rig.storage
  const stopFormer = await rig.start()
  const [dice, mines] = [await rig.openSession(), await rig.openSession({ game: 'mines' })]
  await rig.play(dice)
  const board = await rig.play(mines)
  const tile = await safeTile(rig, board.round_id)
  const chain = sequenceKey(rig.scope, 'dice', dice.player_id)
  const promised = (await storedRounds(db).last(chain)).next?.serverSeedHash
  await stopFormer()
  const missing = () => assertSeedsOpen(db, parseKeyring(next))
  await t.rejects(missing(), /key test is missing/)

  const stopBoth = await rig.start(`${next},${masterKeys}`)
  const rewrite = async (dryRun: boolean) => {
    const order = { by: 'tester', reason: null, dryRun }
    const values: Record<string, number> = {}
    let rewritten = 0
    for (let after: string | null = null; ; ) {
      const page: Page = await rig.bus.call(opsRewriteSeals.rounds, { order, after })
      for (const [kid, count] of Object.entries(page.values)) values[kid] = (values[kid] ?? 0) + count
      rewritten += page.rewritten
      t.equal(page.damaged, 0)
      if (page.next === null) return { values, rewritten }
      after = page.next
    }
  }
  // Of each game the commitment of its first nonce and of its next one, and the seed of the open round.
  t.strictSame(await rewrite(true), { values: { test: 5 }, rewritten: 0 }, 'counted')
  t.strictSame(await rewrite(false), { values: { next: 5 }, rewritten: 5 })
  t.strictSame(await rewrite(false), { values: { next: 5 }, rewritten: 0 }, 'once is enough')
  await stopBoth()

  await missing()
  await rig.start(next)
  const { fairness } = await rig.play(dice)
  t.match(fairness, { nonce: 2, server_seed_hash: promised }, 'the seed that was committed to')
  await act(rig, mines, board.round_id, tile)
  t.equal((await cashOut(rig, mines, board.round_id)).status, 'SETTLED')
})
