import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { listPublicKeys, login, mintToken, refreshLogin } from '@pitboss/contracts/calls/auth'
import { listCredentials } from '@pitboss/contracts/endpoints/auth'
import { restoreDocuments } from '@pitboss/testing/restore-documents'
import { createRewriteSeals } from '@pitboss/storage/rewrite-seals'
import { openKeyring } from '@pitboss/storage/open-keyring'
import type { Db } from 'mongodb'
import { Secret, TOTP } from 'otpauth'
import pino from 'pino'
import t from 'tap'
import { z } from 'zod'
import { macPurposes } from '../../src/app.ts'
import { sealedPlaces } from '../../src/storage/sealed-places.ts'
import { authOnDatabase } from '../fixtures/auth-deps.ts'

const rows = z.array(z.looseObject({ _id: z.string() }))
/** Documents that build 05ff98f wrote, under the one master key that it gave to all services. */
const recorded = z
  .object({
    ...{ master_keys: z.string(), api_key: z.string(), api_secret: z.string(), email: z.string() },
    ...{ password: z.string(), refresh_token: z.string(), totp_secret: z.string(), signing_kid: z.string() },
    recovery_codes: z.tuple([z.string(), z.string()]),
    cursor: z.string(),
    documents: z.record(z.string(), rows),
  })
  .parse(JSON.parse(readFileSync(new URL('../fixtures/documents-of-05ff98f.json', import.meta.url), 'utf8')))
const own = `auth-1:${randomBytes(32).toString('base64')}`
const { api_key, api_secret, email, password, master_keys: former } = recorded
const operatorId = 'aebe0d12-0a6b-467c-a7dc-80bcaa30126f'
const ownerId = 'usr_01m831fr000000000000000000'
const client = { address: '192.0.2.7', userAgent: null }

const restore = (db: Db) => restoreDocuments(db, recorded.documents)

t.test('documents of an earlier build go on, and their key can leave', async (t) => {
  const before = await authOnDatabase(t)
  const { db } = before
  const runOn = async (keys: string) =>
    authOnDatabase(t, undefined, { db, keyring: await openKeyring(db, keys, macPurposes) })
  await restore(db)
  await openKeyring(db, former, macPurposes)
  const both = await runOn(`${own},${former}`)
  const signing = async (auth: typeof both) =>
    (await auth.call(listPublicKeys, {})).keys.map(({ kid }) => String(kid))
  const mint = (auth: typeof both) =>
    auth.call(mintToken, { api_key, api_secret, clientAddress: '192.0.2.1' })
  const signIn = (auth: typeof both, totp: string) => auth.call(login, { email, password, totp, client })

  t.strictSame(await signing(both), [recorded.signing_kid])
  t.ok(await mint(both), 'an API secret')
  const credential = await db.collection<{ _id: string }>('credentials').findOne({ _id: api_key })
  t.match(credential, { secretHash: /^v1\.auth-1\./ }, 'its hash is made anew when it is used')
  const code = new TOTP({ secret: Secret.fromBase32(recorded.totp_secret) }).generate()
  t.ok(await signIn(both, code), 'a password and a code of the app')
  t.ok(await signIn(both, recorded.recovery_codes[0]), 'a recovery code')

  const listFrom = async (auth: typeof both) => {
    const caller = auth.callerAs(operatorId, ownerId)
    const query = { environment: 'TEST', limit: 10, cursor: recorded.cursor } as const
    return (await auth.call(listCredentials.call, { caller, params: {}, query, body: undefined })).body.data
  }
  t.strictSame(
    (await listFrom(both)).map((key) => key.api_key),
    [api_key],
    'a cursor',
  )

  await restore(db)
  const keyring = await openKeyring(db, `${own},${former}`, macPurposes)
  const logger = pino({ level: 'silent' })
  const seals = createRewriteSeals({ db, keyring, places: sealedPlaces, logger })
  let after: string | null = null
  do after = (await seals.page({ after, isDry: false })).next
  while (after !== null)

  const alone = await runOn(own)
  t.strictSame(await signing(alone), [recorded.signing_kid], 'without the former key')
  t.ok(await mint(alone), 'an API secret that was not used meanwhile')
  t.equal((await listFrom(alone)).length, 1, 'a cursor')
  t.ok(await signIn(alone, recorded.recovery_codes[1]), 'a recovery code')
  const renewed = await alone.call(refreshLogin, { refreshToken: recorded.refresh_token })
  t.ok(renewed.refreshToken)
  t.ok(await alone.call(refreshLogin, { refreshToken: renewed.refreshToken }), 'a refresh cookie')
})
