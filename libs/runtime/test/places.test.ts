import t from 'tap'
import { createPlaces } from '../src/places.ts'

t.test('a key has so many places, and each is free again once it is left', (t) => {
  const places = createPlaces(2)
  const leaveFirst = places.take('a')
  const leaveSecond = places.take('a')
  t.equal(places.take('a'), null, 'both places are taken')
  t.not(places.take('b'), null, 'another key has its own')
  leaveFirst?.()
  leaveFirst?.()
  t.not(places.take('a'), null, 'one is free')
  t.equal(places.take('a'), null, 'and one alone, though it was left twice')
  leaveSecond?.()
  t.not(places.take('a'), null)
  t.end()
})
