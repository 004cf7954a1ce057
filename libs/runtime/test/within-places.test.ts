import t from 'tap'
import { withinPlaces } from '../src/within-places.ts'

t.test('a key has so many places, and each is free again once its work has ended', async (t) => {
  const taken = new Map<string, number>()
  const first = Promise.withResolvers<string>()
  const second = Promise.withResolvers<string>()
  const run = (key: string, work: Promise<string>) => withinPlaces(taken, key, 2, () => work)
  const answers = [run('a', first.promise), run('a', second.promise)]
  t.equal(run('a', first.promise), null, 'both places are taken')
  t.equal(await run('b', Promise.resolve('other')), 'other', 'another key has its own')
  first.resolve('done')
  t.equal(await answers[0], 'done')
  t.equal(await run('a', Promise.resolve('again')), 'again')
  second.reject(new Error('failed'))
  await t.rejects(Promise.resolve(answers[1]), { message: 'failed' })
  t.strictSame([...taken], [], 'nothing runs, so nothing is counted')
})
