import t from 'tap'
import { EngineError } from '../src/engine-error.ts'
import { firstThatWorks } from '../src/try-ways.ts'

await t.test('when nothing works, one message says what was tried and what helps', async (t) => {
  const fails = (way: string, reason: string) => ({ way, use: () => Promise.reject(new EngineError(reason)) })
  const trying = firstThatWorks(
    'nats',
    [{ way: 'NATS_URL', outcome: 'not set' }],
    [fails('the release', 'no route'), fails('apt', 'no apt-get')],
  )
  await t.rejects(trying, { name: 'EngineError' })
  const message = await trying.catch((error: Error) => error.message)
  for (const part of [
    'NATS_URL: not set',
    'the release: no route',
    'apt: no apt-get',
    'docker run',
    'NATS_URL=',
    'NATS_SERVER_BIN',
    'PITBOSS_CACHE_DIR',
  ]) {
    t.ok(String(message).includes(part), part)
  }
})

await t.test('the first that works is taken and the rest is left alone', async (t) => {
  const used: string[] = []
  const way = (name: string, fails: boolean) => ({
    way: name,
    use: async () => {
      used.push(name)
      if (fails) throw new EngineError('no')
      return name
    },
  })
  t.equal(await firstThatWorks('mongodb', [], [way('a', true), way('b', false), way('c', false)]), 'b')
  t.strictSame(used, ['a', 'b'])
})
