import { setImmediate as turn } from 'node:timers/promises'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { createGroupCommit, type Landed } from '../../src/journal/group-commit.ts'

type Document = { _id: string; bytes?: number }

/** A collection whose commands are answered by the test, one by one. */
function held(t: Test, limits: { documentsMax?: number; commandsMax?: number } = {}) {
  let steadyMs = 0
  const commands: {
    ids: string[]
    followers: string[]
    answer: (landed: Landed[]) => void
    fail: () => Promise<void>
  }[] = []
  let came: () => void = () => {}
  const stopped = new Set<string>()
  const group = createGroupCommit<Document, string>({
    ...limits,
    steadyMs: () => steadyMs,
    bytesOf: ({ bytes = 10 }) => bytes,
    mayGo: ({ _id }) => !stopped.has(_id),
    insert(documents, followers) {
      const { promise, resolve, reject } = Promise.withResolvers<Landed[]>()
      commands.push({
        ids: documents.map(({ _id }) => _id),
        followers: [...followers],
        answer: resolve,
        async fail() {
          reject(new Error('connection lost'))
          await turn()
        },
      })
      came()
      return promise
    },
  })
  t.teardown(() => {
    for (const { answer, ids } of commands) answer(ids.map(() => 'inserted'))
  })
  return {
    group,
    commands,
    stopped,
    pass: (ms: number) => {
      steadyMs += ms
    },
    /** The command with this number, from 0, once it has gone out. */
    async command(number: number) {
      for (;;) {
        const command = commands[number]
        if (command !== undefined) return command
        await new Promise<void>((resolve) => {
          came = resolve
        })
      }
    },
  }
}

const documents = (...ids: string[]): Document[] => ids.map((_id) => ({ _id }))
const inserted = (count: number): Landed[] => Array.from({ length: count }, () => 'inserted')

await t.test(
  'what arrives while a command is under way goes out together, in the order of keys',
  async (t) => {
    const { group, command, pass } = held(t)
    const first = group.insert(documents('c'), 1000)
    const one = await command(0)
    const second = group.insert(documents('b', 'n/b'), 1000)
    const third = group.insert(documents('a'), 1000)
    pass(5)
    one.answer(['inserted'])
    t.strictSame(await first, ['inserted'])
    const two = await command(1)
    t.strictSame(two.ids, ['a', 'b', 'n/b'])
    two.answer(['inserted', 'present', 'inserted'])
    t.strictSame(await second, ['present', 'inserted'], 'each waiter gets the fates of its own documents')
    t.strictSame(await third, ['inserted'])
    t.strictSame(group.counts(), { commands: 2, documents: 4 })
  },
)

await t.test('a collection may have smaller commands, and one at a time', async (t) => {
  const { group, command, commands, pass } = held(t, { documentsMax: 2, commandsMax: 1 })
  const all = ['a', 'b', 'c'].map((id) => group.insert(documents(id), 1000))
  const one = await command(0)
  t.strictSame(one.ids, ['a', 'b'])
  pass(50)
  await turn()
  t.equal(commands.length, 1, 'no second one, however long it takes')
  one.answer(inserted(2))
  const two = await command(1)
  t.strictSame(two.ids, ['c'])
  two.answer(inserted(1))
  t.strictSame((await Promise.all(all)).flat(), inserted(3))
})

await t.test('a second command goes out beside one that takes long, and no third', async (t) => {
  const { group, command, commands, pass } = held(t)
  void group.insert(documents('a'), 1000)
  const one = await command(0)
  pass(11)
  void group.insert(documents('b'), 1000)
  await command(1)
  pass(11)
  const third = group.insert(documents('c'), 1000)
  t.equal(commands.length, 2)
  one.answer(['inserted'])
  const three = await command(2)
  three.answer(['inserted'])
  t.strictSame(await third, ['inserted'])
})

await t.test('a command carries at most 128 documents or 1 MiB', async (t) => {
  const { group, command } = held(t)
  const many = Array.from({ length: 200 }, (_, index) => group.insert(documents(`a${index}`), 1000))
  const one = await command(0)
  t.equal(one.ids.length, 128)
  one.answer(inserted(128))
  const two = await command(1)
  t.equal(two.ids.length, 72)
  const large = ['x', 'y'].map((_id) => group.insert([{ _id, bytes: 700_000 }], 1000))
  two.answer(inserted(72))
  await Promise.all(many)
  const three = await command(2)
  t.strictSame(three.ids, ['x'])
  three.answer(['inserted'])
  const four = await command(3)
  four.answer(['inserted'])
  t.strictSame(await Promise.all(large), [['inserted'], ['inserted']])
})

await t.test('a command whose outcome is lost is sent again until it is known', async (t) => {
  const { group, command, pass } = held(t)
  const first = group.insert(documents('a'), 10_000)
  const one = await command(0)
  await one.fail()
  pass(200)
  const again = await command(1)
  t.strictSame(again.ids, ['a'])
  again.answer(['present'])
  t.strictSame(await first, ['present'])
})

await t.test('a waiter is told at its deadline that nothing is known, and its insert goes on', async (t) => {
  const { group, command, pass } = held(t)
  const first = group.insert(documents('a'), 50)
  const one = await command(0)
  t.equal(await first, 'unknown')
  pass(60)
  await one.fail()
  pass(200)
  const again = await command(1)
  t.strictSame(again.ids, ['a'])
  await again.fail()
  pass(31_000)
  const other = group.insert(documents('b'), 60_000)
  const third = await command(2)
  t.strictSame(third.ids, ['b'], 'half a minute after the deadline it is over')
  third.answer(['inserted'])
  t.strictSame(await other, ['inserted'])
})

await t.test('what may not go any more when its command goes out stays of unknown fate', async (t) => {
  const { group, command, commands, pass, stopped } = held(t)
  const first = group.insert(documents('a'), 1000)
  const one = await command(0)
  const [late, other] = [group.insert(documents('b', 'c'), 1000), group.insert(documents('d'), 1000)]
  stopped.add('c')
  pass(10)
  t.strictSame((await command(1)).ids, ['d'])
  t.equal(await late, 'unknown')
  await one.fail()
  stopped.add('a')
  pass(100)
  t.equal(await first, 'unknown', 'nor is it sent again')
  commands[1]?.answer(inserted(1))
  t.strictSame(await other, ['inserted'])
})

await t.test(
  'the next command goes out once the one before is answered, not when its time is over',
  async (t) => {
    // No time passes.
    mock.timers.enable({ apis: ['setTimeout'] })
    t.teardown(() => mock.timers.reset())
    const { group, command } = held(t)
    const first = group.insert(documents('a'), 1000)
    const { answer } = await command(0)
    const second = group.insert(documents('b'), 1000)
    await turn()
    answer(inserted(1))
    t.strictSame(await first, inserted(1))
    const next = await command(1)
    t.strictSame(next.ids, ['b'])
    next.answer(inserted(1))
    t.strictSame(await second, inserted(1))
  },
)

await t.test('what follows documents goes out with them once', async (t) => {
  const { group, command, pass } = held(t)
  const first = group.insert(documents('a'), 1000, ['list of a'])
  const one = await command(0)
  t.strictSame(one.followers, ['list of a'])
  await one.fail()
  pass(100)
  const second = group.insert(documents('b'), 1000, ['list of b'])
  const two = await command(1)
  t.strictSame([two.ids, two.followers], [['a', 'b'], ['list of b']])
  two.answer(['present', 'inserted'])
  t.strictSame([await first, await second], [['present'], ['inserted']])
})
