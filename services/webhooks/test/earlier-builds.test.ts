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
import { createSecretCipher } from '../src/actions/create-endpoint.ts'
import { presentEndpoint } from '../src/records/webhook-records.ts'
import { listEndpoints } from '../src/actions/read-endpoints.ts'
import { secretsValidAt } from '../src/rules/signing-secrets.ts'
import { collectionsOf } from '../src/storage/collections.ts'
import { createEndpointStore } from '../src/storage/endpoint-store.ts'
import { indexes, seals as places } from '../src/all-wings.ts'

/** Documents that build 05ff98f wrote, under the one master key that it gave to all services. */
const recorded = z
  .object({
    ...{ master_keys: z.string(), secrets: z.array(z.string()), cursor: z.object({ text: z.string() }) },
    documents: z.object({ endpoints: z.tuple([z.looseObject({ _id: z.string() })]) }),
  })
  .parse(JSON.parse(readFileSync(new URL('./fixtures/documents-of-05ff98f.json', import.meta.url), 'utf8')))
const own = `webhooks-1:${randomBytes(32).toString('base64')}`
const scope = { operatorId: 'aebe0d12-0a6b-467c-a7dc-80bcaa30126f', environment: 'SANDBOX' } as const
const [{ _id: id }] = recorded.documents.endpoints
const logger = pino({ level: 'silent' })

t.test('an endpoint of an earlier build goes on, and its key can leave', async (t) => {
  const db = await openTestDatabase(t)
  await ensureIndexes(db, indexes)
  await restoreDocuments(db, recorded.documents)
  await openKeyring(db, recorded.master_keys)
  const endpoints = createEndpointStore(collectionsOf(db), exactReads)
  const find = async () => {
    const endpoint = await endpoints.find(scope, id)
    if (endpoint === null) throw new Error('there is no endpoint')
    return endpoint
  }
  const secretsOf = async (keyring: Keyring) => {
    const { decrypt } = createSecretCipher(createSecretBox(keyring, 'webhook-secret'))
    const endpoint = await find()
    return secretsValidAt(endpoint.secrets, new Date()).map((secret) => decrypt(endpoint, secret))
  }
  const listFrom = (keyring: Keyring) => {
    const cursors = createCursorCodec({ keyring })
    return listEndpoints({ endpoints, cursors }, scope, { limit: 10, cursor: recorded.cursor.text })
  }

  const both = await openKeyring(db, `${own},${recorded.master_keys}`)
  t.strictSame(await secretsOf(both), recorded.secrets, 'both secrets of an overlap sign')
  t.match(presentEndpoint(await find()), { status: 'ACTIVE', max_in_flight: 8 })
  t.strictSame(await listFrom(both), { items: [], nextCursor: null }, 'a cursor')

  const seals = createRewriteSeals({ db, keyring: both, places, logger })
  t.match(await seals.page({ after: null, isDry: false }), { rewritten: 2, damaged: 0, next: null })
  t.strictSame(
    (await find()).secrets.map(({ sealed }) => kidOf(sealed)),
    ['webhooks-1', 'webhooks-1'],
  )

  const alone = await openKeyring(db, own)
  t.strictSame(await secretsOf(alone), recorded.secrets, 'without the former key')
  t.strictSame(await listFrom(alone), { items: [], nextCursor: null }, 'a cursor')
})
