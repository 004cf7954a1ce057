import type { Document } from 'mongodb'
import pino from 'pino'
import t from 'tap'
import { parseKeyring } from '../src/keyring.ts'
import { openKeyring } from '../src/open-keyring.ts'
import { createRewriteSeals, sealedFields, type SealedPlace } from '../src/rewrite-seals.ts'
import { createSecretBox } from '../src/stored-secrets.ts'
import { testStorage } from './fixtures/test-storage.ts'

type Things = { _id: string; secrets: string[]; version?: number; kind?: string }

const key = (byte: number) => Buffer.alloc(32, byte).toString('base64')
const [former, current] = [`a:${key(1)}`, `b:${key(2)}`]
const purpose = 'test'
const { client, engines } = await testStorage(t)
let databases = 0

const placeOf = (collection: string, filter: Document = {}): SealedPlace => ({
  collection,
  purpose,
  filter,
  holding: (range) => ({ secrets: { $elemMatch: range } }),
  valuesIn: ({ _id, secrets }) =>
    secrets.map((sealed: string, index: number) => ({
      path: `secrets.${index}`,
      sealed,
      aad: `${collection}/${_id}`,
    })),
})
const places = [placeOf('things'), placeOf('others', { kind: 'sealed' })]

function freshDatabase(keys: string) {
  databases += 1
  const db = client.db(`${engines.databasePrefix}_seals${databases}`)
  t.teardown(() => db.dropDatabase())
  const logged: object[] = []
  const logger = pino({}, { write: (line: string) => logged.push(JSON.parse(line)) })
  const seals = createRewriteSeals({ db, keyring: parseKeyring(keys), places, logger })
  const walk = async (isDry: boolean) => {
    const sum = { rewritten: 0, damaged: 0, looked: 0, pages: 0, values: new Map<string, number>() }
    let after: string | null = null
    do {
      const page: Awaited<ReturnType<typeof seals.page>> = await seals.page({ after, isDry })
      sum.rewritten += page.rewritten
      sum.damaged += page.damaged
      sum.looked += page.looked
      sum.pages += 1
      for (const [kid, count] of Object.entries(page.values))
        sum.values.set(kid, (sum.values.get(kid) ?? 0) + count)
      after = page.next
    } while (after !== null)
    return { ...sum, values: Object.fromEntries(sum.values) }
  }
  const things = db.collection<Things>('things')
  const others = db.collection<Things>('others')
  return { db, things, others, walk, seals, logged }
}

const under = (keys: string) => createSecretBox(parseKeyring(keys), purpose)
const idOf = (index: number) => `thing/${String(index).padStart(5, '0')}`

await t.test('everything is sealed anew, once, over several pages', async (t) => {
  const { things, others, walk } = freshDatabase(`${current},${former}`)
  const count = 1201
  await things.insertMany(
    Array.from({ length: count }, (_, index) => ({
      _id: idOf(index),
      version: 1,
      secrets: [0, 1].map((part) => under(former).seal(`${index}/${part}`, `things/${idOf(index)}`)),
    })),
  )
  await others.insertMany([
    { _id: 'x', kind: 'sealed', secrets: [under(former).seal('x', 'others/x')] },
    { _id: 'y', kind: 'open', secrets: ['no seal'] },
  ])

  t.match(await walk(true), { rewritten: 0, values: { a: 2 * count + 1 }, looked: count + 1 })
  t.match(await walk(false), { rewritten: 2 * count + 1, damaged: 0, values: { b: 2 * count + 1 } })
  t.match(await walk(false), { rewritten: 0, values: { b: 2 * count + 1 } }, 'again, nothing is done')
  t.equal((await walk(true)).values.a, undefined)

  const alone = under(current)
  for await (const { _id, secrets, version } of things.find({})) {
    const opened = secrets.map((sealed) => alone.open(sealed, `things/${_id}`))
    const index = Number(_id.slice(-5))
    t.strictSame([...opened, Number(version)], [`${index}/0`, `${index}/1`, 2])
  }
  t.equal(alone.open((await others.findOne({ _id: 'x' }))?.secrets[0] ?? '', 'others/x'), 'x')
  t.strictSame((await others.findOne({ _id: 'y' }))?.secrets, ['no seal'])
})

await t.test('what cannot be opened stays as it is and is counted', async (t) => {
  const { things, walk, logged } = freshDatabase(`${current},${former}`)
  const gone = under(`gone:${key(9)}`).seal('lost', 'things/lost')
  const damaged = under(former).seal('moved', 'things/another')
  await things.insertMany([
    { _id: 'lost', secrets: [gone] },
    { _id: 'moved', secrets: [damaged, under(former).seal('good', 'things/moved')] },
  ])
  t.match(await walk(false), { rewritten: 1, damaged: 1, values: { gone: 1, b: 1 } })
  t.strictSame((await things.findOne({ _id: 'lost' }))?.secrets, [gone])
  t.equal((await things.findOne({ _id: 'moved' }))?.secrets[0], damaged)
  t.match(logged, [{ msg: 'seal.damaged', collection: 'things', id: 'moved' }])
})

await t.test('a secret that is replaced meanwhile is never put back', async (t) => {
  const { db, things } = freshDatabase(`${current},${former}`)
  await things.insertOne({ _id: 'x', version: 1, secrets: [under(former).seal('before', 'things/x')] })
  const fresh = under(former).seal('after', 'things/x')
  const replacements: Promise<unknown>[] = []
  const place = placeOf('things')
  const between: SealedPlace = {
    ...place,
    valuesIn(document) {
      const values = place.valuesIn(document)
      if (replacements.length === 0)
        replacements.push(things.updateOne({ _id: 'x' }, { $set: { secrets: [fresh] } }))
      return values
    },
  }
  const seals = createRewriteSeals({
    ...{ db, keyring: parseKeyring(`${current},${former}`), places: [between] },
    logger: pino({ level: 'silent' }),
  })
  await seals.page({ after: null, isDry: false })
  await Promise.all(replacements)
  await seals.page({ after: null, isDry: false })
  const [sealed = ''] = (await things.findOne({ _id: 'x' }))?.secrets ?? []
  t.equal(under(current).open(sealed, 'things/x'), 'after')
})

await t.test('fields that hold a secret or nothing are sealed again, nested ones too', async (t) => {
  const { db } = freshDatabase(`${current},${former}`)
  const wallets = db.collection<Document & { _id: string }>('wallets')
  const aadOf = ({ _id }: Document) => `wallet/${_id}`
  const sealed = (id: string, text: string) => under(former).seal(text, `wallet/${id}`)
  await wallets.insertMany([
    { _id: 'both', now: sealed('both', 'one'), before: { sealed: sealed('both', 'two') } },
    { _id: 'one', now: sealed('one', 'three') },
    { _id: 'none', before: null },
  ])
  const place = sealedFields({ collection: 'wallets', purpose, paths: ['now', 'before.sealed'], aadOf })
  const seals = createRewriteSeals({
    ...{ db, keyring: parseKeyring(`${current},${former}`), places: [place] },
    logger: pino({ level: 'silent' }),
  })
  t.match(await seals.page({ after: null, isDry: false }), { rewritten: 3, damaged: 0, next: null })
  const [both, one, none] = await wallets
    .find({}, { sort: { _id: 1 } })
    .toArray()
    .then((found) => ['both', 'one', 'none'].map((id) => found.find(({ _id }) => _id === id)))
  const open = (id: string, text: unknown) => under(current).open(String(text), `wallet/${id}`)
  t.equal(open('both', both?.now), 'one')
  t.equal(open('both', both?.before.sealed), 'two')
  t.equal(open('one', one?.now), 'three')
  t.same(none, { _id: 'none', before: null })
  const holding = { $gt: 'v1.b.', $lt: 'v1.b/' }
  t.equal(await wallets.countDocuments(place.holding(holding)), 2)
})

await t.test('a start names the missing key under which something is sealed', async (t) => {
  const { db, things, seals, logged } = freshDatabase(current)
  await openKeyring(db, `${former}`)
  await openKeyring(db, `${current},${former}`)
  await openKeyring(db, current)
  await seals.reportMissing()
  t.strictSame(logged, [], 'nothing is sealed under the dropped key')
  await things.insertOne({ _id: 'x', secrets: [under(former).seal('x', 'things/x')] })
  await seals.reportMissing()
  t.match(logged, [{ msg: 'master-key.missing', key: 'a', sealed: ['things'] }])
  t.equal(logged.length, 1)
})
