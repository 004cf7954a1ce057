import { randomBytes } from 'node:crypto'
import { ConfigError } from '@pitboss/runtime/load-config'
import { parseKeyring } from '@pitboss/storage/keyring'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import t from 'tap'
import { assertSeedsOpen, createCommitmentsStore } from '../src/storage/commitments-store.ts'
import { sequenceKey } from '../src/storage/round-document.ts'
import { codeOf, masterKeys, startRig } from './fixtures/rounds-rig.ts'

const former = `former:${randomBytes(32).toString('base64')}`
const seeds = { newSeed: () => 'ab'.repeat(32), hashSeed: (seed: string) => `hash of ${seed}` }

t.test(
  'no money moves under a key that is gone, and a seed is sealed anew under the current one',
  async (t) => {
    const rig = await startRig(t)
    const { db } = rig.storage
    const commitmentsUnder = (keys: string) =>
      createCommitmentsStore({ db, secretBox: createSecretBox(parseKeyring(keys), 'server-seeds'), ...seeds })
    const now = new Date()
    const session = await rig.openSession()
    const sequence = sequenceKey(rig.scope, 'dice', session.player_id)
    const commitment = await commitmentsUnder(former).ensure(sequence, 1, now)

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

    const round = await rig.play(await rig.openSession())
    const under = async (fields: Record<string, unknown>) =>
      db.collection<{ _id: string }>('rounds').updateOne({ _id: round.round_id }, { $set: fields })
    await under({ chain: sequence })
    await assertSeedsOpen(db, keyring)
    t.pass('the nonce was played: its seed is revealed')
    await under({ unfinished: true, sealedSeed: commitment.sealedSeed })
    await refused(/key former is missing.*unfinished rounds/)
  },
)
