import t from 'tap'
import { requireTimezone } from '../../src/rules/account-rules.ts'

t.test('a time zone is the canonical name of an IANA zone', async (t) => {
  for (const zone of [
    'UTC',
    'Europe/Malta',
    'America/Los_Angeles',
    'Asia/Kolkata',
    'Europe/Kyiv',
    'Etc/GMT+5',
  ])
    t.doesNotThrow(() => requireTimezone(zone), zone)
})

t.test('offsets, other spellings and aliases are refused; an alias learns its canonical name', async (t) => {
  const refusal = (text: string) => {
    try {
      requireTimezone(text)
    } catch (error) {
      return error
    }
    return null
  }
  for (const text of ['+05:30', '-08', '', 'Europe/Atlantis', 'CET+1'])
    t.match(refusal(text), {
      code: 'VALIDATION_ERROR',
      details: [{ path: 'timezone', message: /Europe\/Malta/ }],
    })
  for (const [alias, canonical] of [
    ['europe/berlin', 'Europe/Berlin'],
    ['US/Pacific', 'America/Los_Angeles'],
    ['Asia/Calcutta', 'Asia/Kolkata'],
    ['Europe/Kiev', 'Europe/Kyiv'],
  ])
    t.match(refusal(alias ?? ''), {
      details: [{ path: 'timezone', message: `must be written "${canonical}"` }],
    })
})
