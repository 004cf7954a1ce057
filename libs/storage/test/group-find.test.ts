import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createGroupFind, findByIds } from '../src/group-find.ts'
import { testStorage } from './fixtures/test-storage.ts'

type Found = { readonly _id: string; readonly read: number }

/** Finds that the test answers. */
function answered() {
  const commands: { readonly ids: readonly string[]; readonly answer: PromiseWithResolvers<Found[]> }[] = []
  const find = createGroupFind<Found>((ids) => {
    const answer = Promise.withResolvers<Found[]>()
    commands.push({ ids, answer })
    return answer.promise
  })
  return { commands, find }
}

t.test('what one turn asks for is one command, and what comes meanwhile the next', async (t) => {
  const { commands, find } = answered()
  const first = ['a', 'b', 'a'].map(find)
  await turn()
  const later = ['a', 'c'].map(find)
  commands[0]?.answer.resolve([{ _id: 'a', read: 1 }])
  t.strictSame(await Promise.all(first), [{ _id: 'a', read: 1 }, null, { _id: 'a', read: 1 }])
  await turn()
  commands[1]?.answer.resolve([{ _id: 'a', read: 2 }])
  t.strictSame(await Promise.all(later), [{ _id: 'a', read: 2 }, null], 'read after it was asked for')
  t.strictSame(
    commands.map(({ ids }) => ids),
    [
      ['a', 'b'],
      ['a', 'c'],
    ],
  )
})

t.test('a command that hangs holds up no other, and what fails fails for its callers alone', async (t) => {
  const { commands, find } = answered()
  const hanging = find('a')
  await turn()
  const failing = find('b')
  const failed = t.rejects(failing, { message: 'gone' })
  while (commands.length < 2) await turn()
  commands[1]?.answer.reject(new Error('gone'))
  await failed
  commands[0]?.answer.resolve([{ _id: 'a', read: 1 }])
  t.match(await hanging, { read: 1 })
})

t.test('a command takes 128 documents', async (t) => {
  const { commands, find } = answered()
  const asked = Array.from({ length: 200 }, (_, index) => find(String(index)))
  await turn()
  for (const { ids, answer } of commands) answer.resolve(ids.map((_id) => ({ _id, read: 1 })))
  await turn()
  commands[1]?.answer.resolve((commands[1].ids ?? []).map((_id) => ({ _id, read: 2 })))
  t.equal((await Promise.all(asked)).filter((found) => found !== null).length, 200)
  t.strictSame(
    commands.map(({ ids }) => ids.length),
    [128, 72],
  )
})

t.test('documents are found by their ids as the driver finds them', async (t) => {
  const { db } = await testStorage(t)
  const collection = db.collection<{ _id: string; at: Date; large: bigint; none: null }>('found')
  const documents = ['a', 'b', 'c'].map((_id) => ({ _id, at: new Date(0), large: 2n ** 53n, none: null }))
  await collection.insertMany(documents)
  const found = await findByIds(collection, ['c', 'missing', 'a'])
  t.strictSame(
    found.toSorted((one, other) => (one._id < other._id ? -1 : 1)),
    [documents[0], documents[2]],
  )
  t.strictSame(await findByIds(db.collection<{ _id: string }>('empty'), ['a']), [])
})
