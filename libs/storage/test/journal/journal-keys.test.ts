import { randomUUID } from 'node:crypto'
import t from 'tap'
import { claimedOwn, claimKey, nameOf, partsOf, streamKey } from '../../src/journal/journal-keys.ts'

t.test('a name gives its parts back, whatever they hold', async (t) => {
  const uuid = randomUUID()
  for (const part of [uuid, uuid.toUpperCase(), ':x', 'a/b', '%2F', 'é', '', nameOf([uuid])])
    t.strictSame(partsOf(nameOf([part, 'SANDBOX'])), [part, 'SANDBOX'])
})

t.test('a player whose id looks like the short form of another’s is somebody else', async (t) => {
  const uuid = randomUUID()
  t.not(streamKey('op', nameOf([uuid])), streamKey('op', uuid))
  t.not(streamKey('op', nameOf([uuid]).slice(1)), streamKey('op', uuid))
})

t.test('a key is short, and a claim names what was claimed', async (t) => {
  t.equal(nameOf([randomUUID()]).length, 23)
  t.equal(claimedOwn(claimKey('t', ['op', 'SANDBOX'], 'bet/1:2')), 'bet/1:2')
})
