import t from 'tap'
import { sessionCreateSchema } from '../src/objects/session.ts'
import { givenInstant, newPlayerId, newTransactionId, playerId, shownText } from '../src/primitives.ts'

t.test('a time may have any offset, and becomes UTC with milliseconds', async (t) => {
  const same = [
    '2026-11-28T00:00:00Z',
    '2026-11-28T00:00Z',
    '2026-11-28t00:00:00z',
    '2026-11-28T00:00:00+00:00',
    '2026-11-28T00:00:00-00:00',
    '2026-11-28T05:30:00+05:30',
    '2026-11-27T19:00-05:00',
    '2026-11-28T00:00:00.000999999Z',
  ]
  for (const text of same) t.equal(givenInstant.parse(text), '2026-11-28T00:00:00.000Z', text)
  t.equal(givenInstant.parse('2026-11-28T00:00:00.1239Z'), '2026-11-28T00:00:00.123Z', 'finer parts are cut')
  const none = [
    ...['2026-11-28', '2026-11-28T00:00:00', '2026-11-28T24:00:00Z', '2026-02-30T00:00:00Z'],
    ...['2026-11-28T23:59:60Z', '2026-11-28T00:00:00+24:00', '0000-01-01T00:00:00+00:01', '', 'now'],
    ...['2026-W48-6T00:00:00Z', '20261128T000000Z', '2026-11-28 00:00:00Z', '9999-12-31T23:59:59-00:01'],
  ]
  for (const text of none) t.notOk(givenInstant.safeParse(text).success, text)
  const spaced = givenInstant.safeParse('2026-11-28T00:00:00 05:30')
  t.match(spaced.error?.issues[0]?.message, /%2B/, 'a plus that became a space is told apart')
})

t.test('the id of a new player is in one form, and all of it is seen', async (t) => {
  const unseen = ['\n', '\t', '\0', '\u007f', '\u0085', '\u2028', '\u2029', '\u202e', '\u061c', '\u200e']
  const nowhere = [...unseen, '\u2066', '\u200b', '\u2060', '\ufeff'].map((mark) => `bo${mark}b`)
  const atAnEnd = [' bob', 'bob ', '\u3000bob', 'bob\u200d', '\u200cbob', ' ']
  for (const id of [...nowhere, ...atAnEnd, 'e\u0301', '.', '..', '', '😀'.repeat(129)])
    t.notOk(newPlayerId.safeParse(id).success, encodeURIComponent(id))
  for (const id of ['bob', 'Bob', 'a b', '\u00e9', 'a\u200db', '😀'.repeat(128), '=1+1', '<b>', 'a/b', '...'])
    t.ok(newPlayerId.safeParse(id).success, encodeURIComponent(id))
  for (const id of [...nowhere, ...atAnEnd, '.', '..'])
    t.ok(playerId.safeParse(id).success, `${encodeURIComponent(id)} of an earlier release is still found`)
})

t.test('a new movement is not named as a folder is', async (t) => {
  for (const id of ['.', '..']) t.notOk(newTransactionId.safeParse(id).success)
  for (const id of ['...', '.a', 'a.', 'a..b', 'x'.repeat(128)])
    t.ok(newTransactionId.safeParse(id).success, id)
})

t.test('a name is one line that reads in one direction', async (t) => {
  for (const name of ['a\nb', '\u001b[31m', 'x\u202ey', '', 'x'.repeat(65)])
    t.notOk(shownText(64).safeParse(name).success, JSON.stringify(name))
  t.ok(shownText(64).safeParse("Zoë's casino – №1").success)
})

t.test('language, country and address of a session', async (t) => {
  const session = (more: object) =>
    sessionCreateSchema.safeParse({ player_id: 'p', game: 'dice', currency: 'USD', ...more })
  t.match(session({ language: 'pt_BR', country: 'gb' }).data, { language: 'pt-BR', country: 'GB' })
  t.match(session({ country: 'UK' }).error?.issues[0]?.message, /"GB"/)
  for (const country of ['ZZ', 'X', 'GBR']) t.notOk(session({ country }).success, country)
  for (const return_url of [
    'https://u:p@op.example/',
    'https://u@op.example/',
    'https://op.example/a b',
    'ftp://x',
  ])
    t.notOk(session({ return_url }).success, return_url)
  t.ok(session({ return_url: 'http://op.example/a%20b' }).success)
})
