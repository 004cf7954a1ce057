import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createCursorCodec } from '@pitboss/storage/cursor'
import { ensureIndexes } from '@pitboss/storage/ensure-indexes'
import type { Keyring } from '@pitboss/storage/keyring'
import { openKeyring } from '@pitboss/storage/open-keyring'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { createSecretBox, kidOf } from '@pitboss/storage/stored-secrets'
import { exactReads } from '@pitboss/testing/exact-reads'
import { openTestDatabase } from '@pitboss/testing/open-test-database'
import { restoreDocuments } from '@pitboss/testing/restore-documents'
import pino from 'pino'
import t from 'tap'
import { z } from 'zod'
import { listTransactions } from '../src/actions/read-movements.ts'
import { createMovementLists } from '../src/storage/movement-lists.ts'
import { createListedMovements, movementIndexes } from '../src/storage/listed-movements.ts'
import { seals as places } from '../src/all-wings.ts'
import { createWallets } from '../src/storage/wallet-document.ts'
import { openTestMoney } from './fixtures/test-money.ts'

/** Documents that build 05ff98f wrote, under the one master key that it gave to all services. */
const recorded = z
  .object({
    ...{ master_keys: z.string(), secret: z.string(), cursor: z.object({ text: z.string() }) },
    documents: z.record(z.string(), z.array(z.looseObject({ _id: z.string() }))),
  })
  .parse(JSON.parse(readFileSync(new URL('./fixtures/documents-of-05ff98f.json', import.meta.url), 'utf8')))
const own = `wallet-bridge-1:${randomBytes(32).toString('base64')}`
const scope = { operatorId: 'aebe0d12-0a6b-467c-a7dc-80bcaa30126f', environment: 'SANDBOX' } as const
const logger = pino({ level: 'silent' })

t.test('a wallet of an earlier build goes on, and its key can leave', async (t) => {
  const db = await openTestDatabase(t)
  await ensureIndexes(db, movementIndexes)
  await restoreDocuments(db, recorded.documents)
  await openKeyring(db, recorded.master_keys)
  await openTestMoney(t, db)
  const walletOf = (keyring: Keyring) => createWallets(db, createSecretBox(keyring), exactReads).open(scope)
  const listFrom = (keyring: Keyring) => {
    const listed = createListedMovements(db)
    const cursors = createCursorCodec({ keyring })
    const query = { limit: 10, cursor: recorded.cursor.text, player_id: 'alice' }
    return listTransactions({ lists: createMovementLists(listed), cursors }, scope, query)
  }

  const both = await openKeyring(db, `${own},${recorded.master_keys}`)
  t.match(await walletOf(both), { secret: recorded.secret, timeoutMs: 3000, formerOrigins: [] })
  t.strictSame(await listFrom(both), { items: [], nextCursor: null }, 'a cursor')

  const seals = createRewriteSeals({ db, keyring: both, places, logger })
  t.match(await seals.page({ after: null, isDry: false }), { rewritten: 1, damaged: 0, next: null })
  const [stored] = await db.collection('wallets').find({}).toArray()
  t.equal(kidOf(String(stored?.sealedSecret)), 'wallet-bridge-1')

  const alone = await openKeyring(db, own)
  t.match(await walletOf(alone), { secret: recorded.secret }, 'without the former key')
  t.strictSame(await listFrom(alone), { items: [], nextCursor: null }, 'a cursor')
})
