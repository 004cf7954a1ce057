import { readFileSync } from 'node:fs'
import { drawAngle } from '../src/games/spin-bottle.ts'
import { drawDice } from '../src/games/dice.ts'
import { drawMines } from '../src/games/mines.ts'
import { createDrawSource } from '../src/fair-v1.ts'
import { isServerSeed, newServerSeed, seedHash } from '../src/server-seed.ts'
import t from 'tap'

type Vector = {
  server_seed: string
  server_seed_hash: string
  client_seed: string | null
  nonce: number
  dice_roll: string
  dice_words_rejected: number
  mines: Record<string, number[]>
  spin_bottle_angle: string
}
const fixture: { vectors: Vector[] } = JSON.parse(
  readFileSync(new URL('./fixtures/fairness-vectors.json', import.meta.url), 'utf8'),
)

await t.test('every published vector is drawn exactly', async (t) => {
  t.ok(fixture.vectors.length >= 10)
  for (const vector of fixture.vectors) {
    const seeds = { serverSeed: vector.server_seed, clientSeed: vector.client_seed, nonce: vector.nonce }
    t.equal(seedHash(vector.server_seed), vector.server_seed_hash)
    const dice = drawDice(seeds)
    t.equal(dice.roll, vector.dice_roll)
    t.equal(dice.steps[0]?.rejections, vector.dice_words_rejected)
    t.equal(drawAngle(seeds).angle, vector.spin_bottle_angle)
    for (const [mines, bombs] of Object.entries(vector.mines)) {
      t.same(drawMines(seeds, Number(mines)).bombs, bombs)
    }
  }
})

await t.test('a rejected word is shown and the next word counts', async (t) => {
  const vector = fixture.vectors.find(({ dice_words_rejected }) => dice_words_rejected === 1)
  if (vector === undefined) throw new Error('the vectors lack a rejection')
  const { steps } = drawDice({
    serverSeed: vector.server_seed,
    clientSeed: vector.client_seed,
    nonce: vector.nonce,
  })
  const [rejected, counted] = steps[0]?.words ?? []
  if (rejected === undefined || counted === undefined) throw new Error('two words were expected')
  t.ok((rejected * 10000) % 2 ** 32 < 2 ** 32 % 10000)
  t.equal(Math.floor((counted * 10000) / 2 ** 32), 6941)
  t.same(steps[0]?.messages, ['rej:183156:0', 'rej:183156:0'])
})

await t.test('draws go on into further blocks and refuse a range they cannot serve fairly', async (t) => {
  const source = createDrawSource({ serverSeed: 'a'.repeat(64), clientSeed: null, nonce: 7 })
  for (let count = 0; count < 17; count++) source.draw(3600)
  t.equal(source.steps[16]?.messages.at(-1), ':7:2')
  for (const range of [0, -1, 1.5, 2 ** 21 + 1, Number.NaN]) t.throws(() => source.draw(range), RangeError)
  for (const mines of [0, 25, 1.5]) {
    t.throws(() => drawMines({ serverSeed: 'a'.repeat(64), clientSeed: null, nonce: 7 }, mines), RangeError)
  }
})

await t.test('fresh server seeds have the public form and differ', async (t) => {
  const seeds = new Set(Array.from({ length: 1000 }, newServerSeed))
  t.equal(seeds.size, 1000)
  t.ok([...seeds].every(isServerSeed))
  t.notOk(isServerSeed('A'.repeat(64)))
})
