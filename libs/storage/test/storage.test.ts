import type { Scope } from '@pitboss/contracts/caller'
import { ServiceError } from '@pitboss/errors/service-error'
import { type Document, Long } from 'mongodb'
import t from 'tap'
import { connectStorage } from '../src/connect-storage.ts'
import { ensureIndexes } from '../src/ensure-indexes.ts'
import { fencedUpdate } from '../src/change-fenced.ts'
import { hashBody } from '@pitboss/contracts/json'
import { claimIdempotencyKey, createIdempotencyKeys, idempotencyKeyIndexes } from '../src/idempotency-keys.ts'
import { createLease, leaseIndexes } from '../src/lease.ts'
import { auditOutboxIndex } from '../src/audit-outbox.ts'
import { memoryLogger, silentLogger, testStorage } from './fixtures/test-storage.ts'

const scope = { operatorId: '0b6d1b52-9a54-4d6b-a1f4-1c4a3f0f7a11', environment: 'SANDBOX' } as const

await t.test('storage', async (t) => {
  const { db, client, ping, engines } = await testStorage(t)

  await t.test(
    'writes are majority and journaled, reads go to the primary, 64-bit integers are exact bigints',
    async (t) => {
      t.match(db.writeConcern, { w: 'majority', journal: true, wtimeoutMS: 5000 })
      t.equal(db.readConcern?.level, 'majority')
      t.match(client.options, { maxPoolSize: 50, waitQueueTimeoutMS: 5000, socketTimeoutMS: 20_000 })
      t.equal(db.readPreference?.mode, 'primary')
      t.ok(await ping())
      const amounts = db.collection<{ _id: string; minor: bigint | Long; gone?: string | undefined }>(
        'amounts',
      )
      await amounts.insertOne({ _id: 'a', minor: 9_007_199_254_740_993n, gone: undefined })
      t.strictSame(await amounts.findOne({ _id: 'a' }), { _id: 'a', minor: 9_007_199_254_740_993n })
    },
  )

  await t.test('a database that does not answer is an error within seconds', async (t) => {
    await t.rejects(
      connectStorage({
        url: 'mongodb://127.0.0.1:1/?directConnection=true',
        database: 'x',
        logger: silentLogger,
      }),
    )
  })

  await t.test(
    'indexes are made once, also by two replicas at a time, and a drift is refused by name',
    async (t) => {
      const declared = {
        things: [
          auditOutboxIndex,
          { key: { operatorId: 1, seq: -1 }, name: 'operator_seq', unique: true },
          {
            key: { player: 1 },
            name: 'one_open',
            unique: true,
            partialFilterExpression: { status: { $in: ['A', 'B'] } },
          },
          { key: { at: 1 }, name: 'ttl', expireAfterSeconds: 86_400 },
        ],
      } as const
      await Promise.all([ensureIndexes(db, declared), ensureIndexes(db, declared)])
      await ensureIndexes(db, declared)
      const names = (await db.collection('things').listIndexes().toArray()).map(({ name }) => name)
      t.strictSame(
        new Set(names),
        new Set(['_id_', auditOutboxIndex.name, 'operator_seq', 'one_open', 'ttl']),
      )

      const altered = (index: object) => ({
        things: declared.things.map((one) => ({ ...one, ...(one.name === 'operator_seq' ? index : {}) })),
      })
      const retiring = [{ key: { seq: 1, at: 1 }, name: 'late', unique: true }] as const
      await ensureIndexes(db, { things: [...declared.things, ...retiring] })
      const retired = [{ key: retiring[0].key, name: retiring[0].name, retired: true }]
      const drop = () => ensureIndexes(db, { things: [...declared.things, ...retired] })
      await Promise.all([drop(), drop()])
      const left = (await db.collection('things').listIndexes().toArray()).map(({ name }) => name)
      t.strictSame(
        new Set(left),
        new Set(names),
        'an index of an earlier release is dropped, whatever its form, and not made again',
      )

      await t.rejects(ensureIndexes(db, altered({ unique: false })), /things\.operator_seq differs .* unique/)
      await t.rejects(ensureIndexes(db, altered({ key: { seq: -1, operatorId: 1 } })), /differs .* key/)
      await t.rejects(
        ensureIndexes(db, altered({ partialFilterExpression: { seq: { $gt: 1 } } })),
        /differs .* partialFilterExpression/,
      )
      await t.rejects(ensureIndexes(db, altered({ expireAfterSeconds: 1 })), /differs .* expireAfterSeconds/)
      await t.rejects(
        ensureIndexes(db, { things: declared.things.filter(({ name }) => name !== 'operator_seq') }),
        /unique index things\.operator_seq exists but is not declared/,
      )
      const { logger, lines } = memoryLogger()
      await ensureIndexes(db, { things: declared.things.filter(({ name }) => name !== 'ttl') }, logger)
      t.match(lines(), [{ msg: 'database.unknown-indexes', collection: 'things', indexes: ['ttl'] }])
      await t.rejects(
        ensureIndexes(db, { things: [] }),
        /unique index/,
        'an unknown unique index is refused beside unknown ones of the other kind',
      )
    },
  )

  await t.test('on a sharded cluster the log names what must stay unsharded', async (t) => {
    const router = new Proxy(db, {
      get: (target, name) =>
        name === 'command'
          ? async (command: Document) => ({ ...(await target.command(command)), msg: 'isdbgrid' })
          : Reflect.get(target, name, target),
    })
    const { logger, lines } = memoryLogger()
    const unique = { key: { nonce: 1 }, name: 'nonce', unique: true } as const
    await ensureIndexes(router, { nonces: [unique], logs: [{ key: { at: 1 }, name: 'at' }] }, logger)
    t.match(lines(), [{ msg: 'database.keep-unsharded', collections: ['nonces'] }])
  })

  await t.test(
    'a clock that is more than 2 s away from the database is noticed, and again when it is right',
    async (t) => {
      let offMs = 0
      const { logger, lines } = memoryLogger()
      const storage = await connectStorage({
        url: engines.mongodbUrl,
        database: `${engines.databasePrefix}_clock`,
        logger,
        clock: { now: () => new Date(Date.now() + offMs) },
      })
      t.teardown(() => storage.close())
      t.ok(storage.clockAgrees())
      for (const [differenceMs, sign] of [
        [60_000, 1],
        [-60_000, -1],
      ] as const) {
        offMs = differenceMs
        t.notOk(storage.clockAgrees(), 'a jump is seen before the database is asked')
        t.ok(storage.clockAheadMs() * sign > 55_000)
        const now = storage.clock.now().getTime()
        t.ok(Math.abs(now - Date.now()) < 1000, 'what is under way is dated right')
        t.ok(Math.abs(now - storage.clockOffsetMs() - Date.now()) < 1000, 'by the time of the database, too')
        t.ok(await storage.ping(), 'the database answers all the same')
        t.notOk(storage.clockAgrees())
        t.ok(storage.clockAheadMs() * sign > 2000)
      }
      offMs = 0
      await storage.ping()
      t.ok(storage.clockAgrees())
      t.strictSame(
        lines().map(({ msg, level }) => [level, msg]),
        [
          ['error', 'clock.compared'],
          ['info', 'clock.compared'],
        ],
      )
    },
  )

  await t.test('of many writers with one version exactly one wins', async (t) => {
    const raced = db.collection<{ _id: string; version: number; winner: number }>('raced')
    await raced.insertOne({ _id: 'rnd_1', version: 1, winner: 0 })
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        fencedUpdate(raced, { _id: 'rnd_1' }, 1, { $set: { winner: index + 1 } }),
      ),
    )
    const won = results.filter((document) => document !== null)
    t.equal(won.length, 1)
    t.strictSame(await raced.findOne({ _id: 'rnd_1' }), won[0])
    t.equal(won[0]?.version, 2)
    t.equal(await fencedUpdate(raced, { _id: 'rnd_2' }, 1, { $set: { winner: 1 } }), null)
  })

  await t.test('a lease has one owner at a time and its token only rises', async (t) => {
    await ensureIndexes(db, leaseIndexes)
    let now = new Date('2026-11-20T10:00:00.000Z')
    let aheadMs = 0
    const of = (owner: string) =>
      createLease({
        db,
        name: 'fanout',
        owner,
        ttlMs: 5000,
        clock: { now: () => now },
        clockAheadMs: () => aheadMs,
      })
    const first = await Promise.all(
      ['a', 'b', 'c'].map(async (owner) => ({ owner, token: await of(owner).acquire() })),
    )
    const holders = first.filter(({ token }) => token !== null)
    t.equal(holders.length, 1)
    const holder = of(holders[0]?.owner ?? '')
    t.equal(holders[0]?.token, 1)
    now = new Date(now.getTime() + 4000)
    t.ok(await holder.renew(1))
    now = new Date(now.getTime() + 4000)
    t.equal(await of('d').acquire(), null)
    now = new Date(now.getTime() + 1001)
    t.notOk(await holder.renew(1))
    t.equal(await of('d').acquire(), 2)
    t.notOk(await holder.renew(1))
    await holder.release(1)
    t.equal(await of('e').acquire(), null)
    await of('d').release(2)
    t.equal(await of('e').acquire(), 3)
    aheadMs = 3_600_000
    now = new Date(now.getTime() + aheadMs)
    t.notOk(await of('e').renew(3), 'a process whose clock is wrong gives its lease up')
    t.equal(await of('f').acquire(), null, 'and takes none')
  })

  await t.test(
    'an idempotency key gives one object to all who repeat it, and a conflict to another body',
    async (t) => {
      await ensureIndexes(db, idempotencyKeyIndexes)
      let made = 0
      const claim = (changes: object = {}) =>
        claimIdempotencyKey({
          db,
          scope,
          list: 'sessions',
          key: 'k1',
          bodyHash: hashBody({ a: 1, b: 2 }),
          newId: () => `ses_${(made += 1)}`,
          now: new Date('2026-11-20T10:00:00.000Z'),
          ...changes,
        })
      const claims = await Promise.all(Array.from({ length: 8 }, () => claim()))
      t.equal(new Set(claims.map(({ objectId }) => objectId)).size, 1)
      t.equal(claims.filter(({ fresh }) => fresh).length, 1)
      t.equal(hashBody({ b: 2, a: 1 }), hashBody({ a: 1, b: 2 }))
      const conflict = await claim({ bodyHash: hashBody({ a: 2 }) }).catch((error: unknown) => error)
      t.ok(conflict instanceof ServiceError && conflict.code === 'CONFLICT')
      t.ok((await claim({ list: 'free-bets', bodyHash: 'other' })).fresh)
      t.ok((await claim({ scope: { ...scope, environment: 'LIVE' }, bodyHash: 'other' })).fresh)
      const dayLater = new Date('2026-11-21T10:00:00.000Z')
      const late = await Promise.all([
        claim({ bodyHash: 'other', now: dayLater }),
        claim({ bodyHash: 'other', now: dayLater }),
      ])
      t.equal(late.filter(({ fresh }) => fresh).length, 1)
      t.equal(late[0]?.objectId, late[1]?.objectId)
      t.not(late[0]?.objectId, claims[0]?.objectId)
    },
  )

  await t.test('an idempotency key says nothing in another account or environment', async (t) => {
    await ensureIndexes(db, idempotencyKeyIndexes)
    const keys = createIdempotencyKeys({ db })
    const creation = { list: 'sessions', body: {}, now: new Date('2026-11-20T10:00:00.000Z') }
    const under = (of: Scope) => ({ scope: of, idempotencyKey: 'of the owner' })
    const claim = (of: Scope, id: string) => keys.claim(under(of), { ...creation, newId: () => id })
    t.same(await claim(scope, 'ses_own'), { objectId: 'ses_own', fresh: true })
    const others: Scope[] = [
      { ...scope, operatorId: '6f1f9d0e-5a0b-4c57-9a52-3d1c1f0f8a99' },
      { ...scope, environment: 'LIVE' },
    ]
    for (const [at, other] of others.entries()) {
      t.equal(await keys.find(under(other), creation), null)
      t.same(await claim(other, `ses_${at}`), { objectId: `ses_${at}`, fresh: true })
    }
    t.equal(await keys.find(under(scope), creation), 'ses_own')
    await keys.forget('ses_own')
    t.equal(await keys.find(under(scope), creation), null)
    t.equal(await keys.find(under(others[0] ?? scope), creation), 'ses_0')
  })
})
