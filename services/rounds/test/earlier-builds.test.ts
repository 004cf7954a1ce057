import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { newServerSeed, seedHash } from '@pitboss/fairness/server-seed'
import { createCursorCodec } from '@pitboss/storage/cursor'
import type { Keyring } from '@pitboss/storage/keyring'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { createSecretBox } from '@pitboss/storage/stored-secrets'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { restoreDocuments } from '@pitboss/testing/restore-documents'
import { sampleCaller } from '@pitboss/testing/sample-caller'
import pino from 'pino'
import t from 'tap'
import { z } from 'zod'
import { listRounds } from '../src/actions/read-rounds.ts'
import { assertSeedsOpen } from '../src/storage/chain-seals.ts'
import { createCommitmentsStore } from '../src/storage/commitments-store.ts'
import { storedRounds, testJournal } from './fixtures/stored-rounds.ts'
import { seals as places } from '../src/all-wings.ts'

/** Documents that build 05ff98f wrote, under the one master key that it gave to all services. */
const recorded = z
  .object({
    ...{ master_keys: z.string(), seed: z.string(), cursor: z.object({ text: z.string() }) },
    documents: z.object({
      commitments: z.tuple([z.looseObject({ _id: z.string(), chain: z.string(), nonce: z.number() })]),
    }),
  })
  .parse(JSON.parse(readFileSync(new URL('./fixtures/documents-of-05ff98f.json', import.meta.url), 'utf8')))
const own = `rounds-1:${randomBytes(32).toString('base64')}`
const { chain, nonce } = recorded.documents.commitments[0]
const scope = { operatorId: 'aebe0d12-0a6b-467c-a7dc-80bcaa30126f', environment: 'SANDBOX' } as const
const caller = sampleCaller(scope, { kind: 'credential', api_key: 'ck_test_1', scopes: [] })

t.test('a seed of an earlier build opens, and its key can leave', async (t) => {
  const db = await openTestDatabase(t)
  await restoreDocuments(db, recorded.documents)
  await openKeyring(db, recorded.master_keys)
  const now = new Date()
  const seedOf = async (keyring: Keyring) => {
    const secretBox = createSecretBox(keyring, 'server-seeds')
    const { journal } = testJournal(db)
    const store = createCommitmentsStore({
      db,
      secretBox,
      journal,
      newSeed: newServerSeed,
      hashSeed: seedHash,
    })
    const last = { nonce: nonce - 1, unfinished: false, next: null }
    const { sealedSeed, serverSeedHash } = await store.after(chain, last, now)
    const seed = store.open(chain, nonce, sealedSeed)
    t.equal(seedHash(seed), serverSeedHash, 'it is the seed that was committed to')
    return seed
  }
  const listFrom = (keyring: Keyring) => {
    const cursors = createCursorCodec({ keyring })
    const query = { limit: 10, cursor: recorded.cursor.text, game: 'dice' }
    return listRounds({ rounds: storedRounds(db), cursors }, { caller, query })
  }

  const both = await openKeyring(db, `${own},${recorded.master_keys}`)
  t.equal(await seedOf(both), recorded.seed)
  t.strictSame(await listFrom(both), { items: [], nextCursor: null }, 'a cursor')

  const logger = pino({ level: 'silent' })
  const seals = createRewriteSeals({ db, keyring: both, places, logger })
  await t.rejects(assertSeedsOpen(db, await openKeyring(db, own)), /k1 is missing/, 'it cannot leave before')
  t.match(await seals.page({ after: null, isDry: false }), { rewritten: 1, damaged: 0 })

  const alone = await openKeyring(db, own)
  await assertSeedsOpen(db, alone)
  t.equal(await seedOf(alone), recorded.seed, 'without the former key')
  t.strictSame(await listFrom(alone), { items: [], nextCursor: null }, 'a cursor')
})
