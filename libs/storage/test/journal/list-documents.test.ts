import { type Packed, unpackOthers } from '../../src/packed.ts'
import t from 'tap'
import { createListDocuments, type ListDocument } from '../../src/journal/list-documents.ts'
import { testStorage } from '../fixtures/test-storage.ts'

type Shown = ListDocument & { readonly status: string }

await t.test('list documents on a real engine', async (t) => {
  const { db } = await testStorage(t)
  const collection = db.collection<Packed<Shown, '_id' | 'n'>>('shown')
  const plain = new Set(['_id', 'n'] as const)
  const [a, b] = [createListDocuments(collection, { plain }), createListDocuments(collection, { plain })]
  const stored = async (_id: string) => {
    const found = await collection.findOne({ _id })
    return found === null ? null : unpackOthers<Shown>(found)
  }

  await t.test('a document is replaced by a greater number only, whoever wrote it', async (t) => {
    await a.write({ _id: 'one', n: 2, status: 'PENDING' })
    await b.write({ _id: 'one', n: 1, status: 'NEW' })
    t.strictSame(await stored('one'), { _id: 'one', n: 2, status: 'PENDING' })
    await b.write({ _id: 'one', n: 3, status: 'ENDED' })
    await a.write({ _id: 'one', n: 2, status: 'PENDING' })
    await a.write({ _id: 'one', n: 3, status: 'again' })
    t.strictSame(await stored('one'), { _id: 'one', n: 3, status: 'ENDED' })
  })

  await t.test('a document from before the journal counts as older than any', async (t) => {
    const old = { _id: 'old', status: 'SUCCESS' }
    await collection.insertOne(old)
    await a.write({ _id: 'old', n: 1, status: 'ROLLED_BACK' })
    t.strictSame(await stored('old'), { _id: 'old', n: 1, status: 'ROLLED_BACK' })
  })

  await t.test('of many who write at once the greatest number stands', async (t) => {
    const numbers = Array.from({ length: 40 }, (_, index) => index + 1)
    await Promise.all(numbers.map((n) => (n % 2 === 0 ? a : b).write({ _id: 'race', n, status: `${n}` })))
    t.strictSame(await stored('race'), { _id: 'race', n: 40, status: '40' })
  })
})
