import t from 'tap'
import { actOfKey, keyTexts } from '../dashboard/src/palette/keys.ts'
import { places } from '../dashboard/src/session/places.ts'

const press = (key: string, waiting = false, command = false) => actOfKey({ key, command }, waiting)

t.test('every key that the help shows does something, and no two do the same', async (t) => {
  const shown = keyTexts.map(({ shown }) => shown)
  t.equal(new Set(shown).size, shown.length)
  for (const keys of shown) {
    const [first = '', letter] = keys.split(', ')[0]?.split(' ') ?? []
    const pressed = press(first)
    t.ok(letter === undefined ? pressed.act : press(letter, pressed.waiting).act, keys)
  }
})

t.test('"g" and a letter go to a page, each page of the menu by its own letter', async (t) => {
  t.strictSame(press('g'), { act: null, waiting: true })
  const all = places.flatMap(({ places }) => places)
  for (const { key, href, title } of all)
    t.strictSame(press(key ?? '', true), { act: { kind: 'go', href }, waiting: false }, title)
  t.strictSame(press('!', true), { act: null, waiting: false }, 'another key forgets the "g"')
})

t.test('keys of the browser stay its own', async (t) => {
  t.strictSame(press('k', false, true).act, { kind: 'search' })
  for (const key of ['j', 'r', 'f', 'p', 'z', 'g'])
    t.strictSame(press(key, false, true), { act: null, waiting: false }, key)
})
