import t from 'tap'
import { togetherNext, type Turns } from '../src/together.ts'

t.test('who asks while work is under way shares the work after it', async (t) => {
  const turns: Turns<number> = new Map()
  const ends: ((value: number) => void)[] = []
  const ask = () => togetherNext(turns, 'a', () => new Promise<number>((resolve) => ends.push(resolve)))
  const first = ask()
  const [second, third] = [ask(), ask()]
  t.equal(ends.length, 1, 'they wait for its end')
  ends[0]?.(1)
  t.equal(await first, 1)
  t.equal(ends.length, 2)
  const fourth = ask()
  ends[1]?.(2)
  t.strictSame(await Promise.all([second, third]), [2, 2])
  ends[2]?.(3)
  t.equal(await fourth, 3)
  t.equal(turns.size, 0, 'nothing is left')
})

t.test('work that fails fails for those who share it alone', async (t) => {
  const turns: Turns<string> = new Map()
  const first = togetherNext(turns, 'a', () => Promise.reject(new Error('gone')))
  const second = togetherNext(turns, 'a', async () => 'there')
  await t.rejects(first, { message: 'gone' })
  t.equal(await second, 'there')
  t.equal(turns.size, 0)
})
